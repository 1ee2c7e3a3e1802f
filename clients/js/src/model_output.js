// What a model of any provider has said: the calls in it, and the messages that carry their answers back.

import { giveIds, writeIds } from "./call_ids.js";
import { chooseCalls, isCutOff, markHalf } from "./finish_reason.js";
import { UnknownAnswer } from "./failures.js";
import { gather, isOfGemini, shorten } from "./accumulator.js";
import { copyJson } from "./numbers.js";
import { isOfOllama, writeAnswers } from "./ollama.js";

// What the SDKs' own parsers add to what the model said, and the providers do not take back.
const PARSED = new Set(["parsed", "parsed_arguments", "parsed_output"]);
const NESTING = new Set(["content", "tool_calls", "function"]);
// What the SDKs' streams call what they have come to.
const FINALS = ["finalChatCompletion", "finalResponse", "finalMessage"];

/**
 * What a model has said; `answers` and `approvals` stand beside `calls`. `madeIds` are those that do not go back, with what
 * their model has given in their place.
 */
export class Turn {
  constructor(form, said, calls, madeIds = new Map()) {
    this.form = form;
    this.said = said;
    this.calls = calls;
    this.madeIds = madeIds;
    this.answers = [];
    this.approvals = [];
  }

  /** The dialect of the answers. */
  get dialect() {
    if (this.form === "ollama") return "openai";
    return this.form.startsWith("gemini") ? "gemini" : this.form;
  }

  /** What to append to the conversation; nothing where the model calls no tool. */
  get messages() {
    return this.calls.length > 0 ? [...this.said, ...this.replies] : [];
  }

  /** The answers as the provider takes them; for Anthropic and Gemini they are one message. */
  get replies() {
    if (this.form === "anthropic" || this.form === "gemini-outputs") return [{ role: "user", content: this.answers }];
    if (this.form === "ollama") return writeAnswers(this.answers, this.calls, this.madeIds);
    if (this.form !== "gemini") return this.answers;
    return [{ role: "user", parts: this.answers.map((part) => putBack(part, this.madeIds)) }];
  }
}

/** Put what the model has said in the place of an id that was made; nothing where it has said nothing. */
function putBack(part, made) {
  const { id, ...answer } = part.functionResponse;
  if (!made.has(id)) return part;
  const said = made.get(id) ?? null;
  return { ...part, functionResponse: said === null ? answer : { id: said, ...answer } };
}

/**
 * Read an answer of OpenAI (Chat Completions or Responses), Anthropic, Gemini or Ollama, whole, or as its chunks or stream;
 * one of Gemini's Interactions API whole only. Ids that are made for calls without any are written into the answer.
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
  const plain = copyJson(given);
  if ("choices" in plain) {
    const [choice] = plain.choices;
    if (!choice) return new Turn("openai", [], []);
    const read = "tool_calls" in choice.message ? readChat : readMessage;
    return read(choice.message, given, isCutOff(choice, "finish_reason"));
  }
  if (isOfGemini(plain)) {
    const candidate = plain.candidates?.[0];
    return candidate?.content ? readParts(candidate.content, isCutOff(candidate, "finishReason")) : new Turn("gemini", [], []);
  }
  if ("output" in plain) {
    const items = plain.output.map(dropParsed);
    writeIds(given, "openai-responses", items, "call_id", giveIds(items.filter((it) => WITH_CALL_ID.has(it.type)), "call_id"));
    return new Turn("openai-responses", items, chooseCalls(items, isOurs, isCutOff(plain, "status")));
  }
  if ("steps" in plain) return new Turn("gemini-steps", plain.steps, findOpen(plain, plain.steps));
  if ("outputs" in plain) {
    return new Turn("gemini-outputs", [{ role: "model", content: plain.outputs }], findOpen(plain, plain.outputs));
  }
  if ("done" in plain && isObject(plain.message)) {
    return readOllama(plain.message, plain.done === false || isCutOff(plain, "done_reason"));
  }
  return readMessage(plain, given);
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

// Where `id` is that of the item.
const WITH_CALL_ID = new Set("function_call custom_tool_call apply_patch_call computer_call shell_call".split(" "));

/** Return whether the server is to answer an item; some the provider may have run, in a place of its own. */
function isOurs(item) {
  if (item.type === "tool_search_call") return item.execution === "client";
  if (item.type === "shell_call") return (item.environment?.type ?? "local") === "local";
  return ITEMS.has(item.type);
}

function readMessage(message, given, cutOff = false) {
  if (message.role === "assistant" && Array.isArray(message.content) && !("tool_calls" in message)) {
    return readBlocks(message.content.map(dropParsed), given, cutOff || isCutOff(message, "stop_reason"));
  }
  if (message.role === "assistant" && isOfOllama(message.tool_calls)) return readOllama(message, cutOff);
  if (message.role === "assistant") return readChat(message, given, cutOff);
  if ("parts" in message) return readParts(message, false);
  throw new UnknownAnswer(`this is no answer of a model that is known here: ${shorten(message)}`);
}

const isOfChat = (call) => CHAT.has(call.type ?? "function");

function readChat(message, given, cutOff) {
  const said = tidy(dropParsed(message));
  const calls = said.tool_calls ?? [];
  writeIds(given, "openai", calls, "id", giveIds(calls, "id"));
  return new Turn("openai", [said], chooseCalls(calls, isOfChat, cutOff));
}

/** Read a message of Ollama's own, which goes back without the ids that its calls get here. */
function readOllama(message, cutOff) {
  const calls = (message.tool_calls ?? []).map((call) => ({ type: "function", ...call }));
  const made = giveIds(calls, "id");
  return new Turn("ollama", [tidy(message)], chooseCalls(calls, isOfChat, cutOff), made);
}

/** Leave out what the SDK's stream fills in: members without a value, and the places of calls. */
function tidy(message) {
  const kept = Object.fromEntries(Object.entries(message).filter(([key, value]) => value !== null || key === "content"));
  if (kept.tool_calls) kept.tool_calls = kept.tool_calls.map(({ index, ...call }) => call);
  return kept;
}

function readBlocks(blocks, given, cutOff) {
  writeIds(given, "anthropic", blocks, "id", giveIds(blocks.filter((it) => it.type === "tool_use"), "id"));
  const calls = chooseCalls(blocks, (block) => block.type === "tool_use", cutOff);
  // Arguments that were cut off reach the server, which tells the model; the provider takes back objects only.
  const content = blocks.map((it) => (it.type === "tool_use" && !isObject(it.input) ? { ...it, input: {} } : it));
  return new Turn("anthropic", [{ role: "assistant", content }], calls);
}

function readParts(content, cutOff) {
  const found = (content.parts ?? []).flatMap((part) => part.functionCall ?? part.function_call ?? []);
  const plain = found.map((call) => ({ ...call }));
  const made = giveIds(plain, "id");
  const calls = plain.map((call) => ({ functionCall: call }));
  // An empty part with a signature may stand behind it.
  if (cutOff && calls.length > 0) calls.push(markHalf(calls.pop()));
  return new Turn("gemini", [content], calls, made);
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
