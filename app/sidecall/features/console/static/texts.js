// The arguments of a call as JSON text, in place of the form.

import { it, setAttribute } from "./dom.js";
import { parse, stringify } from "./json.js";

/** Say what is wrong with the text; an empty word takes it away. */
export function sayWrong(words) {
  it("args-error").textContent = words;
  setAttribute(it("args-text"), "aria-invalid", words === "" ? null : "true");
}

/** Return the value that is written, or null where it is none yet, which is said. */
export function readText() {
  const field = it("args-text");
  try {
    const value = parse(field.value.trim() === "" ? "{}" : field.value);
    if (value === null || Array.isArray(value) || !stringify(value).startsWith("{"))
      throw new SyntaxError("Write a JSON object: { … }");
    sayWrong("");
    return value;
  } catch (error) {
    sayWrong(error.message);
    field.focus();
    return null;
  }
}

/** Show the text, or the form, with what is filled in. */
export function turn(args, isText) {
  if (isText === args.isText) return;
  const value = isText ? args.form.read().value : readText();
  if (value === null) return;
  if (isText) it("args-text").value = stringify(value, 2);
  else args.form.fill(value);
  args.isText = isText;
  it("args-form").hidden = isText;
  it("args-json").hidden = !isText;
  for (const [id, isChosen] of [
    ["tab-form", !isText],
    ["tab-json", isText],
  ]) {
    it(id).setAttribute("aria-selected", String(isChosen));
    it(id).tabIndex = isChosen ? 0 : -1;
  }
}
