// What waits for a person.

import { isApproval, isListOf, readAnswer } from "./answers.js";
import { awaitUnlessAborted, pause } from "./connection.js";
import { ApprovalNeeded, ClientError, ServerUnreachable } from "./failures.js";

// Of one call, which might ask without end.
const MOST_QUESTIONS = 100;

/** Approvals: list, show and decide. */
export class ApprovalDesk {
  #connection;

  constructor(connection) {
    this.#connection = connection;
  }

  /** List the approvals of a status, oldest first; with `null` all of them. */
  async list(status = "pending") {
    const found = [];
    let path = status ? `/approvals?status=${encodeURIComponent(status)}` : "/approvals";
    while (path) {
      path = await this.#connection.ask("GET", path, { isSafe: true }, async (response) => {
        found.push(...(await readAnswer(response, isListOf(isApproval))));
        return /<([^>]+)>;\s*rel="?next/.exec(response.headers.get("Link") ?? "")?.[1];
      });
    }
    return found;
  }

  /** Show an approval. */
  async show(id, format = "langchain", signal) {
    return this.#ask("GET", id, { params: [["format", format]], isSafe: true, signal });
  }

  async #ask(method, id, request) {
    const read = (response) => readAnswer(response, isApproval, request.signal);
    return this.#connection.ask(method, `/approvals/${encodeURIComponent(id)}`, request, read);
  }

  /** Decide about a call, which runs if it is approved, and is waited for. */
  async decide(id, verdict, format = "langchain", signal) {
    try {
      return await this.#ask("POST", id, { params: [["format", format]], body: verdict, signal });
    } catch (error) {
      // The call runs on where the connection is lost, or Node waits for its head no longer.
      if (!(error instanceof ServerUnreachable)) throw error;
      return this.#findDecided(id, format, signal, error);
    }
  }

  /** Wait for the answer to a call that may have been decided, or throw what was lost. */
  async #findDecided(id, format, signal, lost) {
    for (let wait = 0.25; ; wait = Math.min(wait * 1.5, 5)) {
      const approval = await this.show(id, format, signal).catch((error) => {
        throw error instanceof ClientError ? lost : error;
      });
      if (approval.status === "pending") throw lost;
      if (approval.status !== "approved" || approval.message != null) return approval;
      await pause(wait, signal);
    }
  }

  /** Approve a call, with other arguments perhaps. */
  async approve(id, { args, reason } = {}) {
    return this.decide(id, { decision: "approve", args, reason });
  }

  /** Reject a call, with a reason that the model reads. */
  async reject(id, reason) {
    return this.decide(id, { decision: "reject", reason });
  }

  /** Ask the person who decides, or wait, and return the answer in a dialect. */
  async settle(id, format, { ask, approvalWait = 0, signal } = {}) {
    let approval = await this.show(id, format, signal);
    // A call may wait for a person's signing in, and then for a decision; its tool may ask several times.
    let unanswered, most = MOST_QUESTIONS;
    for (let left = approvalWait, wait = 0.25; approval.message == null; ) {
      const question = readQuestion(approval);
      if (approval.status === "pending" && ask && most > 0 && question !== unanswered) {
        most -= 1;
        const verdict = readVerdict(await awaitUnlessAborted(ask(approval), signal));
        // Nobody can say in the person's place that they have signed in.
        const isSeen = !verdict || (approval.sign_in != null && verdict.decision === "approve");
        unanswered = isSeen ? question : undefined;
        // It answers no other question than the one that was shown; older servers do not number them.
        const said = isSeen ? undefined : { ...verdict, question: verdict.question ?? approval.question };
        approval = isSeen ? await this.show(id, format, signal) : await this.decide(id, said, format, signal);
        continue;
      }
      // One that is approved runs, and has its answer soon.
      if (approval.status === "pending" && left <= 0) throw new ApprovalNeeded([approval]);
      await pause(wait, signal);
      left -= wait;
      wait = Math.min(wait * 1.5, 5);
      approval = await this.show(id, format, signal);
    }
    return approval.message;
  }
}

/** What a person is asked, the same while it is the same question. */
function readQuestion({ sign_in: signIn, question, description, preview, payload }) {
  return JSON.stringify([signIn?.provider, signIn ? null : question, description, preview, payload]);
}

function readVerdict(said) {
  if (typeof said === "boolean") return { decision: said ? "approve" : "reject" };
  if (said === null || said === undefined || typeof said === "object") return said ?? undefined;
  throw new TypeError("ask has to return true, false, nothing, or {decision, args, reason}");
}
