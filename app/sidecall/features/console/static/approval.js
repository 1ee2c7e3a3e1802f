// Decide about a call: approve it, perhaps with other arguments, or reject it with a reason.

import { address, ask, explain, Refusal } from "./api.js";
import { make } from "./dom.js";
import { makeForm } from "./form/form.js";
import { parse, same, stringify } from "./json.js";

const it = (id) => document.getElementById(id);
const told = parse(it("approval-data").textContent);
const { approval, schema } = told;
const asked = approval.tool_call.args;
// The tool as it is now, where it is not the one that was asked about: a decision is about what the person has read.
let current = null;
let form = null;

/** Return the arguments as they stand now; undefined where they are none yet. */
function readArgs() {
  if (form === null) return asked;
  const { value, problems } = form.read();
  form.showErrors(problems);
  if (problems.length === 0) return value;
  form.focus();
  return undefined;
}

function nameApproval(isChanged) {
  const words = isChanged ? "Approve with changes" : "Approve";
  it("approve").textContent = current === null ? words : `${words} for the tool as it is now`;
}

async function showChanges() {
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

/** Make what is sent; null where something has to be mended first. */
function makeDecision(decision) {
  const made = { decision, question: approval.question };
  const reason = it("reason").value.trim();
  if (reason !== "") made.reason = reason;
  if (decision === "approve") {
    const args = readArgs();
    if (args === undefined) return null;
    if (!same(args, asked)) made.args = args;
  }
  if (it("always").checked) {
    made.always = true;
    if (it("expires").value !== "") made.expires_in = Number(it("expires").value);
  }
  if (current !== null) made.hash = current.hash;
  return made;
}

function setBusy(isBusy) {
  for (const id of ["approve", "reject", "undo", "always", "expires", "reason"]) it(id).disabled = isBusy;
}

async function decide(decision) {
  const body = makeDecision(decision);
  if (body === null) return;
  setBusy(true);
  it("outcome").replaceChildren();
  it("state").textContent = decision === "approve" ? "The call runs." : "It is being rejected.";
  try {
    const decided = await ask(`approvals/${encodeURIComponent(approval.id)}`, { method: "POST", body });
    await showDecided(decided, `You have ${decided.status} it.`);
  } catch (error) {
    setBusy(false);
    await showTrouble(error);
  }
}

/** Show what was decided, the answer, and the way to the next one. */
async function showDecided(decided, words) {
  it("decide").hidden = true;
  it("state").textContent = words;
  const { showMessage } = await import("./answers.js");
  const shown = decided.message ? [showMessage(decided.message)] : [];
  it("outcome").replaceChildren(...shown, await makeNext());
  it("outcome").querySelector("a").focus();
}

function sayEnd({ status, decided_by: by }) {
  if (status === "expired") return "It has expired: nobody decided in time.";
  if (status === "cancelled") return "The call was cancelled: nothing is left to decide.";
  return `${by ?? "Somebody"} was faster: it is ${status}.`;
}

async function makeNext() {
  const others = await ask("approvals?status=pending&limit=2").catch(() => []);
  const next = others.find((one) => one.id !== approval.id);
  if (next === undefined) return make("p", {}, make("a", { href: address("console/approvals") }, "Nothing else waits"));
  return make("p", {}, make("a", { href: address(`console/approvals/${next.id}`) }, `Next: ${next.tool_call.name}`));
}

async function showTrouble(error) {
  it("state").textContent = explain(error);
  const kind = error instanceof Refusal ? (error.problem.type ?? "").split(":").pop() : "";
  if (kind === "tool-changed") {
    it("state").textContent = "Nothing was decided: the tool has changed. Compare both, and decide about it as it is now.";
    await showChangedTool(error.problem);
    return it("tool-change").focus();
  }
  if (kind === "approval-conflict" || kind === "unknown-approval") {
    const now = await ask(`approvals/${encodeURIComponent(approval.id)}`).catch(() => approval);
    if (now.status !== "pending") return showDecided(now, sayEnd(now));
  }
  const errors = error instanceof Refusal ? (error.problem.errors ?? []) : [];
  form?.showErrors(
    errors.map((one) => ({
      path: (one.loc ?? []).filter((part, index) => index > 0 || part !== "args"),
      message: one.msg,
    })),
  );
  const { showFailure } = await import("./answers.js");
  if (error instanceof Refusal) it("state").textContent = "Nothing was decided.";
  it("outcome").replaceChildren(showFailure(error));
  return undefined;
}

/** Show both definitions, and let the person decide about the tool as it is now. */
async function showChangedTool({ asked: before, current: now }) {
  const value = form?.read().value ?? asked;
  current = now ?? null;
  it("tool-change").hidden = false;
  it("tool-asked").textContent = stringify(before?.definition ?? null, 2);
  it("tool-now").textContent = stringify(now?.definition ?? null, 2);
  it("approve").hidden = current === null;
  if (current === null) return;
  makeArgsForm(current.definition?.function?.parameters ?? null, value);
  const { showDifferences } = await import("./differences.js");
  const names = { was: "asked about", is: "now" };
  it("tool-differences").replaceChildren(showDifferences(before?.definition ?? null, current.definition, names));
}

function undo() {
  form.fill(asked);
  showChanges();
}

/** Make the form of the arguments; where there is no schema they stay as they are. */
function makeArgsForm(made, value) {
  const isForm = schema !== null && schema !== undefined && made !== null && !stringify(asked).startsWith('"');
  if (isForm) {
    form = makeForm(made, { value });
    it("args-form").replaceChildren(form.element);
    it("args-form").hidden = false;
    it("args-plain").hidden = true;
    showChanges();
  } else nameApproval(false);
}

makeArgsForm(schema, asked);
if (approval.definitions) showChangedTool(approval.definitions);
it("args-form").addEventListener("input", showChanges);
it("decide").hidden = false;
// It is fetched with the first sign of a person, so that nothing waits for it.
for (const sign of ["pointermove", "pointerdown", "keydown"])
  addEventListener(sign, () => import("./answers.js").catch(() => null), { once: true });
it("always").addEventListener("change", () => {
  it("expiry").hidden = !it("always").checked;
});
it("undo").addEventListener("click", undo);
it("reject").addEventListener("click", () => decide("reject"));
it("decide").addEventListener("submit", (event) => {
  event.preventDefault();
  decide("approve");
});
document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || it("decide").hidden) return;
  const wanted = { a: "approve", r: "reason" }[event.key];
  if (wanted === undefined) return;
  event.preventDefault();
  it(wanted).focus();
});
