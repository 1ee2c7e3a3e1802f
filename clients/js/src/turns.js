// What a model has said, whoever made it: the calls in it, and the messages that carry their answers back.

import { chooseCalls, isCutOff, markHalf } from "./endings.js";
import { UnknownAnswer } from "./failures.js";
import { gather, isOfGemini, shorten } from "./gathering.js";

// What the SDKs' own parsers add to what the model said, and the providers do not take back.
const PARSED = new Set(["parsed", "parsed_arguments", "parsed_output"]);
const NESTING = new Set(["content", "tool_calls", "function"]);
// What the SDKs' streams call what they have come to.
const FINALS = ["finalChatCompletion", "finalResponse", "finalMessage"];

/** What a model has said; `answers` and `approvals` stand beside `calls`, `madeIds` are of calls without one. */
export class Turn {
  constructor(form, said, calls, madeIds = new Set()) {
    this.form = form;
    this.said = said;
    this.calls = calls;
    this.madeIds = madeIds;
    this.answers = [];
    this.approvals = [];
  }

  /** The dialect of the answers. */
  get dialect() {
    return this.form.startsWith("gemini") ? "gemini" : this.form;
  }

  /** What to append to the conversation; nothing where the model calls no tool. */
  get messages() {
    return this.calls.length > 0 ? [...this.said, ...this.replies] : [];
  }

  /** The answers as the provider takes them; for Anthropic and Gemini they are one message. */
  get replies() {
    if (this.form === "anthropic" || this.form === "gemini-outputs") return [{ role: "user", content: this.answers }];
    if (this.form !== "gemini") return this.answers;
    return [{ role: "user", parts: this.answers.map((part) => dropId(part, this.madeIds)) }];
  }
}

function dropId(part, made) {
  const { id, ...answer } = part.functionResponse;
  return made.has(id) ? { ...part, functionResponse: answer } : part;
}

/**
 * Read an answer of OpenAI (Chat Completions or Responses), Anthropic or Gemini, whole, or as its chunks or stream; one of
 * Gemini's Interactions API whole only.
 */
export async function readTurn(response) {
  if (response instanceof Turn) return response;
  const given = await response;
  if (given === null || typeof given !== "object") {
    throw new UnknownAnswer(`${typeof given} is no answer of a model that is known here`);
  }
  const final = FINALS.find((name) => typeof given[name] === "function");
  if (final) return readWhole(await given[final]());
  if (Symbol.asyncIterator in given || Symbol.iterator in given) {
    const chunks = [];
    for await (const chunk of given) chunks.push(chunk);
    return readWhole(gather(chunks));
  }
  return readWhole(given);
}

function readWhole(given) {
  // As its SDK would send it: classes have getters, which JSON leaves out.
  const plain = JSON.parse(JSON.stringify(given));
  if ("choices" in plain) {
    const [choice] = plain.choices;
    return choice ? readMessage(choice.message, isCutOff(choice, "finish_reason")) : new Turn("openai", [], []);
  }
  if (isOfGemini(plain)) {
    const candidate = plain.candidates?.[0];
    return candidate?.content ? readParts(candidate.content, isCutOff(candidate, "finishReason")) : new Turn("gemini", [], []);
  }
  if ("output" in plain) {
    const items = plain.output.map(dropParsed);
    return new Turn("openai-responses", items, chooseCalls(items, isOurs, isCutOff(plain, "status")));
  }
  if ("steps" in plain) return new Turn("gemini-steps", plain.steps, findOpen(plain, plain.steps));
  if ("outputs" in plain) {
    return new Turn("gemini-outputs", [{ role: "model", content: plain.outputs }], findOpen(plain, plain.outputs));
  }
  return readMessage(plain);
}

/** Find the calls of an interaction that have no result yet. */
function findOpen(interaction, steps) {
  const done = new Set(steps.filter((step) => step.type === "function_result").map((step) => step.call_id));
  return chooseCalls(steps, (it) => it.type === "function_call" && !done.has(it.id), isCutOff(interaction, "status"));
}

const CHAT = new Set(["function", "custom"]);
const ITEMS = new Set(
  "function_call custom_tool_call local_shell_call apply_patch_call computer_call mcp_approval_request".split(" "),
);

/** Return whether the server is to answer an item; some the provider may have run, in a place of its own. */
function isOurs(item) {
  if (item.type === "tool_search_call") return item.execution === "client";
  if (item.type === "shell_call") return (item.environment?.type ?? "local") === "local";
  return ITEMS.has(item.type);
}

function readMessage(message, cutOff = false) {
  if (message.role === "assistant" && Array.isArray(message.content) && !("tool_calls" in message)) {
    return readBlocks(message.content.map(dropParsed), cutOff || isCutOff(message, "stop_reason"));
  }
  if (message.role === "assistant") {
    const said = tidy(dropParsed(message));
    const calls = chooseCalls(said.tool_calls ?? [], (call) => CHAT.has(call.type ?? "function"), cutOff);
    return new Turn("openai", [said], calls);
  }
  if ("parts" in message) return readParts(message, false);
  throw new UnknownAnswer(`this is no answer of a model that is known here: ${shorten(message)}`);
}

/** Leave out what the SDK's stream fills in: members without a value, and the places of calls. */
function tidy(message) {
  const kept = Object.fromEntries(Object.entries(message).filter(([key, value]) => value !== null || key === "content"));
  if (kept.tool_calls) kept.tool_calls = kept.tool_calls.map(({ index, ...call }) => call);
  return kept;
}

function readBlocks(blocks, cutOff) {
  const calls = chooseCalls(blocks, (block) => block.type === "tool_use", cutOff);
  // Arguments that were cut off reach the server, which tells the model; the provider takes back objects only.
  const content = blocks.map((it) => (it.type === "tool_use" && !isObject(it.input) ? { ...it, input: {} } : it));
  return new Turn("anthropic", [{ role: "assistant", content }], calls);
}

function readParts(content, cutOff) {
  const found = (content.parts ?? []).flatMap((part) => part.functionCall ?? part.function_call ?? []);
  const calls = found.map((call) => ({ functionCall: { ...call, id: call.id ?? makeId() } }));
  const made = calls.map((call) => call.functionCall.id).filter((_, index) => (found[index].id ?? null) === null);
  // An empty part with a signature may stand behind it.
  if (cutOff && calls.length > 0) calls.push(markHalf(calls.pop()));
  return new Turn("gemini", [content], calls, new Set(made));
}

/** Make the id of a call that its model has given none. */
export function makeId() {
  return `call_${globalThis.crypto.randomUUID().replaceAll("-", "")}`;
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Leave out what parsers have added, and never what a model has written as arguments. */
function dropParsed(value) {
  if (Array.isArray(value)) return value.map(dropParsed);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !PARSED.has(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, NESTING.has(key) ? dropParsed(inner) : inner]));
}
