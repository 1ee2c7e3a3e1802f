// Calls that a server remembers and runs on.

import { isJob, readAnswer } from "./answers.js";
import { pause } from "./connection.js";

// How long one request waits for a call.
export const LONG_POLL = 20;
// One that waits for an end does not hear that a person is waited for, so these are shorter.
const SHORT_POLL = 5;
const PAUSE = 0.2;
const ENDED = new Set(["succeeded", "failed", "cancelled", "expired", "outcome_unknown"]);

/** Say how a call stands that the server has answered and does not remember. */
export function endWith(message) {
  const kind = message.response_metadata?.error?.kind ?? null;
  const { id, name, tool_call_id } = message;
  return { id, name, status: kind === null ? "succeeded" : "failed", tool_call_id, kind, approval_id: null, message };
}

/** A remembered call. */
export class Job {
  #connection;
  #end;

  /** `end` is how it has ended, where the server has said so at once. */
  constructor(id, connection, end) {
    this.id = id;
    this.#connection = connection;
    this.#end = end;
  }

  /** Show how it stands, as soon as it has ended or after so many whole seconds; the server bounds them. */
  async show(wait = 0, signal) {
    if (this.#end) return structuredClone(this.#end);
    const headers = wait >= 1 ? { Prefer: `wait=${Math.floor(wait)}` } : {};
    const request = { params: [["format", "langchain"]], headers, isSafe: true, signal };
    return this.#ask("GET", "", request);
  }

  /** Show how it stands as soon as it has ended, or after so many seconds. */
  async wait(seconds = Infinity, signal) {
    const until = performance.now() / 1000 + seconds;
    for (let left = seconds; ; ) {
      const state = await this.show(Math.min(left, LONG_POLL), signal);
      left = until - performance.now() / 1000;
      if (ENDED.has(state.status) || left <= 0) return state;
      // A server waits for whole seconds, and not for longer than it is told to: it may answer at once.
      await pause(Math.min(left, PAUSE), signal);
    }
  }

  /** Show how it stands as soon as it has ended, or waits for a person itself. */
  async waitForPerson(signal) {
    for (let wait = 1; ; wait = Math.min(wait * 2, SHORT_POLL)) {
      const state = await this.show(wait, signal);
      if (ENDED.has(state.status) || state.status === "awaiting_approval") return state;
      await pause(0.2, signal);
    }
  }

  /** Cancel it. */
  async cancel(signal) {
    return this.#ask("POST", "/cancel", { params: [["format", "langchain"]], signal });
  }

  async #ask(method, more, request) {
    const path = `/tool_calls/${encodeURIComponent(this.id)}${more}`;
    return this.#connection.ask(method, path, request, (response) => readAnswer(response, isJob, request.signal));
  }
}
