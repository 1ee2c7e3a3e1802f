// An approval: its arguments in a form, and what is changed in them. Deciding comes when it is first wanted.

import { it } from "./dom.js";
import { makeForm } from "./form/form.js";
import { parse, same, stringify } from "./json.js";

const { approval, schema } = parse(it("approval-data").textContent);
// `current` is the tool as it is now, where it is not the one that was asked about: a decision is about what the
// person has read.
const question = { approval, asked: approval.tool_call.args, current: null, form: null, makeArgsForm };
const deciding = () => import("./deciding.js");

function nameApproval(isChanged) {
  const words = isChanged ? "Approve with changes" : "Approve";
  it("approve").textContent = question.current === null ? words : `${words} for the tool as it is now`;
}

async function showChanges() {
  const { asked, form } = question;
  const { value, problems } = form.read();
  const isChanged = problems.length > 0 || !same(value, asked);
  it("undo").hidden = !isChanged;
  nameApproval(isChanged);
  it("changes").hidden = !isChanged;
  if (!isChanged || problems.length > 0) return;
  const { showDifferences } = await import("./differences.js");
  if (same(form.read().value, value))
    it("differences").replaceChildren(showDifferences(asked, value, { was: "asked", is: "yours" }));
}

/** Make the form of the arguments; where there is no schema they stay as they are. */
function makeArgsForm(made, value) {
  const isForm =
    schema !== null && schema !== undefined && made !== null && !stringify(question.asked).startsWith('"');
  if (isForm) {
    question.form = makeForm(made, { value });
    it("args-form").replaceChildren(question.form.element);
    it("args-form").hidden = false;
    it("args-plain").hidden = true;
    showChanges();
  } else nameApproval(false);
}

async function act(name, given) {
  try {
    await (await deciding())[name](question, given);
  } catch {
    it("state").textContent = "The server cannot be reached. What you have filled in stays; try again.";
  }
}

makeArgsForm(schema, question.asked);
if (approval.definitions) act("showChangedTool", approval.definitions);
it("args-form").addEventListener("input", showChanges);
it("decide").hidden = false;
// It is fetched with the first sign of a person, so that nothing waits for it.
for (const sign of ["pointermove", "pointerdown", "keydown"])
  addEventListener(sign, () => deciding().catch(() => null), { once: true });
it("always").addEventListener("change", () => {
  it("expiry").hidden = !it("always").checked;
});
it("undo").addEventListener("click", () => {
  question.form.fill(question.asked);
  showChanges();
});
it("reject").addEventListener("click", () => act("decide", "reject"));
it("decide").addEventListener("submit", (event) => {
  event.preventDefault();
  act("decide", "approve");
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || it("decide").hidden) return;
  const wanted = { a: "approve", r: "reason" }[event.key];
  if (wanted === undefined) return;
  event.preventDefault();
  it(wanted).focus();
});
