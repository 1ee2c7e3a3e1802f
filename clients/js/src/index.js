// Use a Sidecall server from JavaScript: Node.js, Bun, Deno and browsers.

import { makeAiTools } from "./ai.js";
import { isApproval, isDefinition, isJob, isListOf, isMessage, isPreview, isTool, readAnswer } from "./answers.js";
import { ApprovalDesk } from "./approvals.js";
import { findPlaces, nameIds, readBatch, refuseRounded } from "./batches.js";
import { Connection, startLimit, within } from "./connection.js";
import { comesAsEvents, readEvents } from "./events.js";
import { ApprovalNeeded, UnknownAnswer } from "./failures.js";
import { Job, LONG_POLL, endWith } from "./jobs.js";
import { writeJson } from "./numbers.js";
import { Turn, readTurn } from "./model_output.js";

export { Job } from "./jobs.js";
export * from "./failures.js";
export { ServedTool, ToolAnswer, ToolCallFailed, loadTools } from "./tools.js";
export { Turn } from "./model_output.js";

// Which options each way to call takes; one that would do nothing is refused.
const BESIDE = ["state", "context", "signal"];
const OF_MANY = [...BESIDE, "timeout"];
const OF_TURNS = [...OF_MANY, "ask", "approvalWait"];
const OF_CALLS = [...OF_TURNS, "key"];
const FILTERS = ["strict", "tags", "names", "toolset", "context", "signal"];
const OF_JOBS = [...OF_MANY, "key"];
const KEPT_LISTS = 16;
const EVENTS = "text/event-stream";
// Node's fetch gives up where no head of an answer has come for 300 seconds.
const LASTING = 60;
const KEY = /^[\x20-\x7e]{1,255}$/;

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
    return this.#connection.ask("GET", "/tools", { params, headers, isSafe: true, signal }, async (response) => {
      if (response.status === 304 && known) return structuredClone(known.list);
      // The bounds of a schema stay numbers.
      const list = await readAnswer(response, isListOf(isDefinition(format)), signal, JSON.parse);
      const tag = response.headers.get("ETag");
      if (tag) this.#keep(wanted, { tag, list });
      return structuredClone(list);
    });
  }

  #keep(wanted, listing) {
    this.#listings.delete(wanted);
    this.#listings.set(wanted, listing);
    if (this.#listings.size > KEPT_LISTS) this.#listings.delete(this.#listings.keys().next().value);
  }

  /** Show everything about one tool. */
  async tool(name) {
    const read = (response) => readAnswer(response, isTool, undefined, JSON.parse);
    return this.#connection.ask("GET", `/tools/${encodeURIComponent(name)}`, { isSafe: true }, read);
  }

  /** Run a tool, by its name and arguments or by a call as a model wrote it; a failed call is an answer too. */
  async call(call, args, options = {}) {
    requireOptions(options, OF_CALLS, "a call");
    const key = options.key ?? (this.#makesKeys ? globalThis.crypto.randomUUID() : undefined);
    const body = { ...nameCall(call, args), ...beside(options) };
    const said = await within(options, async (signal) => {
      const done = await this.#post("/tool_calls", body, { ...options, signal, key, ...last(options, key) }, (response) =>
        readCall(response, signal),
      );
      return done.job === undefined ? done : this.#waitFor(done.job, signal);
    });
    return said.approval === undefined ? said.message : this.approvals.settle(said.approval, "langchain", options);
  }

  async #post(path, body, { timeout, signal, key, accept, prefer, format = "langchain" }, read) {
    const params = [...(format ? [["format", format]] : []), ...(timeout === undefined ? [] : [["timeout", `${timeout}`]])];
    const headers = key === undefined ? {} : { "Idempotency-Key": writeKey(key) };
    if (accept) headers.Accept = accept;
    if (prefer) headers.Prefer = prefer;
    return this.#connection.ask("POST", path, { params, headers, body, isSafe: key !== undefined, signal }, read);
  }

  async #waitFor(id, signal) {
    const state = await new Job(id, this.#connection).waitForPerson(signal);
    if (state.status === "awaiting_approval") return { approval: state.approval_id };
    if (state.message) return { message: state.message };
    throw new UnknownAnswer(`the call ended as ${state.status}, without an answer`);
  }

  /** Have a call remembered and run, without waiting for it. */
  async job(call, args, options = {}) {
    requireOptions(options, OF_JOBS, "a job");
    // What is remembered costs a row anyway, and sent twice it would run twice.
    const key = options.key ?? globalThis.crypto.randomUUID();
    const body = { ...nameCall(call, args), ...beside(options) };
    return within(options, (signal) =>
      this.#post("/tool_calls", body, { ...options, signal, key, prefer: "respond-async" }, async (response) => {
        const isWaiting = isOfApproval(response.headers.get("Location") ?? "");
        // Refused before it began, as of a tool that is not there: nothing of it is remembered.
        const isRefused = response.status !== 202 && !response.headers.has("Preference-Applied");
        const isRight = isWaiting ? isApproval : isRefused ? isMessage : (it) => isJob(it) || isMessage(it);
        const said = await readAnswer(response, isRight, signal);
        if (isWaiting) throw new ApprovalNeeded([said]);
        return new Job(said.id, this.#connection, isRefused ? endWith(said) : undefined);
      }),
    );
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
    return this.#connection.ask("POST", "/tool_calls", request, (response) => readAnswer(response, isPreview, options.signal));
  }

  /** Run calls side by side; the answers are in the calls' order. */
  async batch(calls, options = {}) {
    const turn = new Turn("langchain", [], nameIds(calls.map((call) => nameCall(call))));
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
      Object.assign(turn, await within(options, (signal) => this.#runCalls(turn, { ...options, signal })));
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

  /** Run those calls that can be sent; a number that may have been rounded is said to the model. */
  async #runCalls({ form, calls }, options) {
    const answers = calls.map((call) => refuseRounded(call, form));
    const approvals = calls.map(() => "");
    const sent = [...calls.keys()].filter((index) => answers[index] === undefined);
    if (sent.length === 0) return { answers, approvals };
    const chosen = sent.map((index) => calls[index]);
    const isPlain = form === "langchain";
    const places = findPlaces(chosen);
    const accept = places && mayLast(options) ? EVENTS : undefined;
    const body = { calls: chosen, ...beside(options) };
    const request = { ...options, key: undefined, accept, format: isPlain ? "langchain" : null };
    const done = await this.#post("/tool_calls/batch", body, request, (response) =>
      readBatch(response, { count: chosen.length, places, isPlain, signal: options.signal }),
    );
    for (const [at, index] of sent.entries()) {
      answers[index] = done.answers[at];
      approvals[index] = done.approvals[at];
    }
    return { answers, approvals };
  }

  /** Run a call, and give its progress and parts until its answer; of an array of calls, those of all. */
  async *stream(call, args, options = {}) {
    requireOptions(options, OF_MANY, "a stream");
    const isBatch = Array.isArray(call);
    const body = isBatch ? { calls: call.map((it) => nameCall(it)) } : nameCall(call, args);
    const path = isBatch ? "/tool_calls/batch" : "/tool_calls";
    const limit = startLimit(options);
    try {
      const request = { ...options, signal: limit.signal, accept: EVENTS };
      const opened = await this.#post(path, { ...body, ...beside(options) }, request, (response) => response);
      yield* readEvents(opened, { count: isBatch ? call.length : 1, isBatch, signal: limit.signal });
    } finally {
      limit.end();
    }
  }

  /** Return the tools for the Vercel AI SDK: `generateText({model, tools: await server.aiTools(), ...})`. */
  async aiTools(options = {}) {
    return makeAiTools(this, options);
  }
}

/** Return whether an answer may take so long that its head has to come before it. */
function mayLast({ timeout }) {
  return timeout === undefined || !(Number(timeout) <= LASTING);
}

/** Say how a call is asked for that may last; one with a key is remembered, so that it can be asked for again. */
function last(options, key) {
  if (!mayLast(options)) return {};
  return key === undefined ? { accept: EVENTS } : { prefer: `wait=${LONG_POLL}` };
}

/** Read the answer to a call, or where to ask for it. */
async function readCall(response, signal) {
  if (comesAsEvents(response)) {
    let said;
    for await (const { event, data } of readEvents(response, { count: 1, signal })) {
      if (event === "message") said = { message: data };
      if (event === "approval") said = { approval: data.id };
    }
    return said;
  }
  const place = response.headers.get("Location") ?? "";
  if (response.status !== 202) return { message: await readAnswer(response, isMessage, signal) };
  if (!isOfApproval(place)) return { job: (await readAnswer(response, (it) => typeof it?.id === "string", signal)).id };
  await response.body?.cancel();
  return { approval: place.split("/").at(-1) };
}

// A proxy may have put a prefix, or its address, before the path.
function isOfApproval(place) {
  return /\/approvals\/[^/]*$/.test(place);
}

function writeKey(key) {
  if (typeof key !== "string" || !KEY.test(key)) throw new TypeError("a key is 1 to 255 printable letters of ASCII");
  return `"${key.replace(/[\\"]/g, "\\$&")}"`;
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
  return writeJson(value).replace(/[\u0080-\uffff]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
