// Use a Sidecall server from JavaScript: Node.js, Deno and browsers.

import { makeAiTools } from "./ai.js";
import { ApprovalDesk } from "./approvals.js";
import { Connection, readJson } from "./connection.js";
import { readEvents } from "./events.js";
import { ApprovalNeeded, UnknownAnswer } from "./failures.js";
import { Job, endWith } from "./jobs.js";
import { Turn, readTurn } from "./turns.js";

export { Job } from "./jobs.js";
export * from "./failures.js";
export { Turn } from "./turns.js";

// Which options each way to call takes; one that would do nothing is refused.
const BESIDE = ["state", "context", "signal"];
const OF_MANY = [...BESIDE, "timeout"];
const OF_TURNS = [...OF_MANY, "ask", "approvalWait"];
const OF_CALLS = [...OF_TURNS, "key"];
const FILTERS = ["strict", "tags", "names", "toolset", "context", "signal"];
const OF_JOBS = [...OF_MANY, "key"];
const KEPT_LISTS = 16;

/** A server of tools. */
export class Sidecall {
  #connection;
  #makesKeys;
  #listings = new Map();

  /** `url` and `apiKey` are in SIDECALL_URL and SIDECALL_API_KEY where they are not said. */
  constructor(url, { makesKeys = false, ...options } = {}) {
    this.#connection = new Connection(url, options);
    this.#makesKeys = makesKeys;
    this.approvals = new ApprovalDesk(this.#connection);
  }

  /** List the tools as a provider's API takes them; an unchanged list is not sent again. */
  async tools(format = "openai", filters = {}) {
    requireOptions(filters, FILTERS, "a listing");
    const { strict, tags = [], names = [], toolset, context, signal } = filters;
    const params = [["format", format], ...tags.map((tag) => ["tag", tag]), ...names.map((name) => ["name", name])];
    if (toolset !== undefined) params.push(["toolset", toolset]);
    if (strict) params.push(["strict", "true"]);
    const headers = context === undefined ? {} : { "X-Sidecall-Context": writeAscii(context) };
    const wanted = JSON.stringify([params, headers]);
    const known = this.#listings.get(wanted);
    if (known) headers["If-None-Match"] = known.tag;
    const response = await this.#connection.send("GET", "/tools", { params, headers, isSafe: true, signal });
    if (response.status === 304) return structuredClone(known.list);
    const list = await readJson(response);
    const tag = response.headers.get("ETag");
    if (tag) this.#keep(wanted, { tag, list });
    return structuredClone(list);
  }

  #keep(wanted, listing) {
    this.#listings.delete(wanted);
    this.#listings.set(wanted, listing);
    if (this.#listings.size > KEPT_LISTS) this.#listings.delete(this.#listings.keys().next().value);
  }

  /** Show everything about one tool. */
  async tool(name) {
    return readJson(await this.#connection.send("GET", `/tools/${encodeURIComponent(name)}`, { isSafe: true }));
  }

  /** Run a tool, by its name and arguments or by a call as a model wrote it; a failed call is an answer too. */
  async call(call, args, options = {}) {
    requireOptions(options, OF_CALLS, "a call");
    const key = options.key ?? (this.#makesKeys ? globalThis.crypto.randomUUID() : undefined);
    const response = await this.#post("/tool_calls", { ...nameCall(call, args), ...beside(options) }, options, key);
    const place = response.headers.get("Location") ?? "";
    if (response.status !== 202) return readJson(response);
    if (place.startsWith("/approvals/")) return this.approvals.settle(place.split("/").at(-1), "langchain", options);
    return this.#waitFor((await readJson(response)).id, options);
  }

  async #post(path, body, { timeout, signal, ...options }, key, format = "langchain") {
    const params = [...(format ? [["format", format]] : []), ...(timeout === undefined ? [] : [["timeout", `${timeout}`]])];
    const headers = key === undefined ? {} : { "Idempotency-Key": `"${key}"` };
    if (options.accept) headers.Accept = options.accept;
    if (options.prefer) headers.Prefer = options.prefer;
    return this.#connection.send("POST", path, { params, headers, body, isSafe: key !== undefined, signal });
  }

  async #waitFor(id, options) {
    const state = await new Job(id, this.#connection).waitForPerson(options.signal);
    if (state.status === "awaiting_approval") return this.approvals.settle(state.approval_id, "langchain", options);
    if (state.message) return state.message;
    throw new UnknownAnswer(`the call ended as ${state.status}, without an answer`);
  }

  /** Have a call remembered and run, without waiting for it. */
  async job(call, args, options = {}) {
    requireOptions(options, OF_JOBS, "a job");
    // What is remembered costs a row anyway, and sent twice it would run twice.
    const key = options.key ?? globalThis.crypto.randomUUID();
    const body = { ...nameCall(call, args), ...beside(options) };
    const response = await this.#post("/tool_calls", body, { ...options, prefer: "respond-async" }, key);
    const place = response.headers.get("Location") ?? "";
    const said = await readJson(response);
    if (place.startsWith("/approvals/")) throw new ApprovalNeeded([said]);
    // Refused before it began, as of a tool that is not there: nothing of it is remembered.
    const isRefused = response.status !== 202 && !response.headers.has("Preference-Applied");
    return new Job(said.id, this.#connection, isRefused ? endWith(said) : undefined);
  }

  /** Take up a remembered call by its id, which may have been sent by another program. */
  findJob(id) {
    return new Job(id, this.#connection);
  }

  /** Ask what a call would do, without running it. */
  async preview(call, args, options = {}) {
    requireOptions(options, BESIDE, "a preview");
    const params = [["dry_run", "true"], ["format", "langchain"]];
    const body = { ...nameCall(call, args), ...beside(options) };
    const request = { params, body, isSafe: true, signal: options.signal };
    return readJson(await this.#connection.send("POST", "/tool_calls", request));
  }

  /** Run calls side by side; the answers are in the calls' order. */
  async batch(calls, options = {}) {
    const turn = new Turn("langchain", [], calls.map((call) => nameCall(call)));
    return (await this.#runTurn(turn, options)).answers;
  }

  /** Run the calls in what a model has said, and return the messages to append; none where it calls no tool. */
  async run(response, { answersOnly = false, ...options } = {}) {
    const turn = await this.#runTurn(await readTurn(response), options);
    return turn.calls.length > 0 && answersOnly ? turn.replies : turn.messages;
  }

  async #runTurn(turn, options) {
    requireOptions(options, OF_TURNS, "a turn or a batch");
    if (turn.calls.length > 0 && turn.answers.length === 0) {
      const body = { calls: turn.calls, ...beside(options) };
      const format = turn.form === "langchain" ? "langchain" : null;
      const response = await this.#post("/tool_calls/batch", body, options, undefined, format);
      turn.answers = await readJson(response);
      const waiting = readWaiting(response.headers.get("X-Sidecall-Approvals") ?? "");
      turn.approvals = turn.answers.map((answer) => waiting.get(idOf(answer)) ?? "");
    }
    const needed = [];
    for (const [index, id] of turn.approvals.entries()) {
      if (!id) continue;
      try {
        turn.answers[index] = await this.approvals.settle(id, turn.dialect, options);
        turn.approvals[index] = "";
      } catch (error) {
        if (!(error instanceof ApprovalNeeded)) throw error;
        needed.push(...error.approvals);
      }
    }
    if (needed.length > 0) throw new ApprovalNeeded(needed, turn);
    return turn;
  }

  /** Run a call, and give its progress and parts until its answer; of an array of calls, those of all. */
  async *stream(call, args, options = {}) {
    requireOptions(options, OF_MANY, "a stream");
    const isBatch = Array.isArray(call);
    const body = isBatch ? { calls: call.map((it) => nameCall(it)) } : nameCall(call, args);
    const path = isBatch ? "/tool_calls/batch" : "/tool_calls";
    const accept = "text/event-stream";
    yield* readEvents(await this.#post(path, { ...body, ...beside(options) }, { ...options, accept }));
  }

  /** Return the tools for the Vercel AI SDK: `generateText({model, tools: await server.aiTools(), ...})`. */
  async aiTools(options = {}) {
    return makeAiTools(this, options);
  }
}

function requireOptions(options, known, place) {
  const unknown = Object.keys(options).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new TypeError(`${place} does not take ${unknown.join(", ")}`);
}

function nameCall(call, args) {
  if (typeof call === "string") return { type: "tool_call", name: call, args: args ?? {} };
  if (args !== undefined && args !== null) throw new TypeError("arguments go with the name of a tool; a call has its own");
  if (call === null || typeof call !== "object") throw new TypeError("neither a tool's name nor a call");
  return call;
}

function beside({ state, context }) {
  return { state, context };
}

// Headers take no more than these letters.
function writeAscii(value) {
  return JSON.stringify(value).replace(/[\u0080-\uffff]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function idOf(answer) {
  const inner = answer.functionResponse ?? answer;
  return inner.tool_call_id || inner.call_id || inner.tool_use_id || inner.approval_request_id || inner.id || "";
}

function readWaiting(header) {
  const pairs = header.split(",").map((pair) => pair.trim()).filter(Boolean);
  if (pairs.some((pair) => /^\*=\d+$/.test(pair))) {
    throw new UnknownAnswer("so many calls of one batch wait for a person that the server names only some: send fewer");
  }
  return new Map(pairs.map((pair) => [decodeURIComponent(pair.split("=")[0]), pair.slice(pair.indexOf("=") + 1)]));
}
