// Decide about a call: approve it, perhaps with other arguments, or reject it with a reason.

import { showFailure, showMessage } from "./answers.js";
import { address, ask, explain, Refusal } from "./api.js";
import { showDifferences } from "./differences.js";
import { it, make } from "./dom.js";
import { parse, same, stringify } from "./json.js";
import { count, showCount } from "./waits.js";

/** Return the arguments as they stand now; undefined where they are none yet. */
function readArgs({ asked, form }) {
  if (form === null) return asked;
  const { value, problems } = form.read();
  form.showErrors(problems);
  if (problems.length === 0) return value;
  form.focus();
  return undefined;
}

/** Make what is sent; null where something has to be mended first. */
function makeDecision(question, decision) {
  const { approval, asked, current } = question;
  const made = { decision, question: approval.question };
  const reason = it("reason").value.trim();
  if (reason !== "") made.reason = reason;
  if (decision === "approve") {
    const args = readArgs(question);
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

/** Send the decision `approve` or `reject`, and show what comes of it. */
export async function decide(question, decision) {
  const body = makeDecision(question, decision);
  if (body === null) return;
  const { approval } = question;
  setBusy(true);
  it("outcome").replaceChildren();
  it("state").textContent = decision === "approve" ? "The call runs." : "It is being rejected.";
  try {
    const decided = await ask(`approvals/${encodeURIComponent(approval.id)}`, { method: "POST", body });
    await showDecided(question, decided, `You have ${decided.status} it.`);
  } catch (error) {
    setBusy(false);
    await showTrouble(question, error);
  }
}

/** Show what was decided, the answer, and the way to the next one. */
async function showDecided({ approval, form }, decided, words) {
  if (form !== null) form.element.disabled = true;
  it("decide").hidden = true;
  it("state").textContent = words;
  const shown = decided.message ? [showMessage(decided.message)] : [];
  it("outcome").replaceChildren(...shown, await makeNext(approval));
  it("outcome").querySelector("a").focus();
}

function sayEnd({ status, decided_by: by }) {
  if (status === "expired") return "It has expired: nobody decided in time.";
  if (status === "cancelled") return "The call was cancelled: nothing is left to decide.";
  return `${by ?? "Somebody"} was faster: it is ${status}.`;
}

async function makeNext(approval) {
  const { total, text } = await count("status=pending&limit=2").catch(() => ({ text: "[]" }));
  if (total !== undefined) showCount(total);
  const next = parse(text).find((one) => one.id !== approval.id);
  if (next === undefined) return make("p", {}, make("a", { href: address("console/approvals") }, "Nothing else waits"));
  return make("p", {}, make("a", { href: address(`console/approvals/${next.id}`) }, `Next: ${next.tool_call.name}`));
}

async function showTrouble(question, error) {
  const { approval, form } = question;
  it("state").textContent = explain(error);
  const kind = error instanceof Refusal ? (error.problem.type ?? "").split(":").pop() : "";
  if (kind === "tool-changed") {
    it("state").textContent = "Nothing was decided: the tool has changed. Compare both, and decide about it as it is now.";
    showChangedTool(question, error.problem);
    return it("tool-change").focus();
  }
  if (kind === "approval-conflict" || kind === "unknown-approval") {
    const now = await ask(`approvals/${encodeURIComponent(approval.id)}`).catch(() => approval);
    if (now.status !== "pending") return showDecided(question, now, sayEnd(now));
  }
  const errors = error instanceof Refusal ? (error.problem.errors ?? []) : [];
  form?.showErrors(
    errors.map((one) => ({
      path: (one.loc ?? []).filter((part, index) => index > 0 || part !== "args"),
      message: one.msg,
    })),
  );
  if (error instanceof Refusal) it("state").textContent = "Nothing was decided.";
  it("outcome").replaceChildren(showFailure(error));
  return undefined;
}

/** Show both definitions, and let the person decide about the tool as it is now. */
export function showChangedTool(question, { asked: before, current: now }) {
  const value = question.form?.read().value ?? question.asked;
  const current = now ?? null;
  question.current = current;
  it("tool-change").hidden = false;
  it("tool-asked").textContent = stringify(before?.definition ?? null, 2);
  it("tool-now").textContent = stringify(now?.definition ?? null, 2);
  it("approve").hidden = current === null;
  if (current === null) return;
  question.makeArgsForm(current.definition?.function?.parameters ?? null, value);
  const names = { was: "asked about", is: "now" };
  it("tool-differences").replaceChildren(showDifferences(before?.definition ?? null, current.definition, names));
}
