// What is done with the arguments that are filled in: they become a call or a link, and what is wrong is shown.

import { it } from "./dom.js";
import { makeForm } from "./form/form.js";
import { stringify } from "./json.js";
import { readText, sayWrong } from "./texts.js";

/** Return the value as it is filled in, or null where it is none yet, which is said at its place. */
function read(args) {
  if (args.isText) return readText();
  return readForm(args.form);
}

function readForm(form) {
  const { value, problems } = form.read();
  form.showErrors(problems);
  if (problems.length === 0) return value;
  const folded = form.element.closest("details");
  if (folded !== null) folded.open = true;
  form.focus();
  return null;
}

/** Return the call to send, or null where something has to be filled in first. */
export function makeCall(args) {
  const value = read(args);
  if (value === null) return null;
  const call = { type: "tool_call", name: args.told.name, args: value };
  if (args.given === null) return call;
  const given = readForm(args.given);
  return given === null ? null : { ...call, ...given };
}

/** Return a link to this page that fills in these arguments, without what is secret. */
export async function makeLink(args) {
  const kept = await args.withoutSecrets(read(args));
  return `${location.origin}${location.pathname}#${encodeURIComponent(stringify(kept))}`;
}

/** Show what is wrong with arguments, each at its field. */
export function showErrors(args, errors) {
  args.form.showErrors(errors);
  const words = errors.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n");
  sayWrong(args.isText ? words : "");
}

/** Begin anew. */
export function clear(args) {
  it("args-text").value = "{}";
  args.form = makeForm(args.told.schema);
  it("args-form").replaceChildren(args.form.element);
  sayWrong("");
  history.replaceState(null, "", location.pathname + location.search);
  args.enter();
}
