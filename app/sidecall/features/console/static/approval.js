// Decide about a call: approve it, perhaps with other arguments, or reject it with a reason.

import { address, ask, explain, Refusal } from "./api.js";
import { make } from "./dom.js";
import { makeForm } from "./form/form.js";
import { parse, same, stringify } from "./json.js";

const it = (id) => document.getElementById(id);
const told = parse(it("approval-data").textContent);
const { approval, schema } = told;
const asked = approval.tool_call.args;
// The tool's definition that the person has read, where it is not the one that was asked about.
let readHash = null;
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

async function showChanges() {
  const { value, problems } = form.read();
  const isChanged = problems.length > 0 || !same(value, asked);
  it("undo").hidden = !isChanged;
  it("approve").textContent = isChanged ? "Approve with changes" : "Approve";
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
  if (readHash !== null) made.hash = readHash;
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

async function makeNext() {
  const others = await ask("approvals?status=pending&limit=2").catch(() => []);
  const next = others.find((one) => one.id !== approval.id);
  if (next === undefined) return make("p", {}, make("a", { href: address("console/approvals") }, "Nothing else waits"));
  return make("p", {}, make("a", { href: address(`console/approvals/${next.id}`) }, `Next: ${next.tool_call.name}`));
}

async function showTrouble(error) {
  it("state").textContent = explain(error);
  const kind = error instanceof Refusal ? (error.problem.type ?? "").split(":").pop() : "";
  if (kind === "tool-changed") return showChangedTool(error.problem);
  if (kind === "approval-conflict") {
    const now = await ask(`approvals/${encodeURIComponent(approval.id)}`).catch(() => approval);
    if (now.status !== "pending")
      return showDecided(now, `${now.decided_by ?? "Somebody"} was faster: it is ${now.status}.`);
  }
  const errors = error instanceof Refusal ? (error.problem.errors ?? []) : [];
  form?.showErrors(
    errors.map((one) => ({
      path: (one.loc ?? []).filter((part, index) => index > 0 || part !== "args"),
      message: one.msg,
    })),
  );
  const { showFailure } = await import("./answers.js");
  it("outcome").replaceChildren(showFailure(error));
  return undefined;
}

function showChangedTool({ asked: before, current }) {
  it("outcome").replaceChildren(
    make("h3", {}, "The tool is another one by now"),
    showDifferences(before?.definition ?? null, current?.definition ?? null, { was: "asked about", is: "now" }),
    make("p", {}, "If you decide again, it is about the tool as it is now."),
  );
  readHash = current?.hash ?? null;
}

function undo() {
  form.fill(asked);
  showChanges();
}

if (schema !== null && schema !== undefined && !stringify(asked).startsWith('"')) {
  form = makeForm(schema, { value: asked });
  it("args-form").append(form.element);
  it("args-form").addEventListener("input", showChanges);
  it("args-form").hidden = false;
  it("args-plain").hidden = true;
}
it("decide").hidden = false;
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
