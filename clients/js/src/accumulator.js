// Put the chunks of a streamed answer together to what the same request without a stream would have got.

import { UnknownAnswer } from "./failures.js";
import { parseJson } from "./numbers.js";
import { gatherOllama } from "./ollama.js";

const OF_GEMINI = ["candidates", "promptFeedback", "usageMetadata"];

/** Return whether this is an answer or a chunk of Gemini; one whose prompt was blocked has no candidates. */
export function isOfGemini(said) {
  return OF_GEMINI.some((key) => key in said);
}

/** Gather the chunks of OpenAI (both APIs), Anthropic, Gemini or Ollama. */
export function gather(chunks) {
  if (chunks.length === 0 || chunks.some((chunk) => chunk === null || typeof chunk !== "object")) {
    throw new UnknownAnswer("this is neither an answer of a model nor the chunks of one");
  }
  if (chunks.some(isOfGemini)) return gatherGemini(chunks);
  if (chunks.some((chunk) => "choices" in chunk)) return gatherChat(chunks);
  if (chunks.every((chunk) => "done" in chunk && "message" in chunk)) return gatherOllama(chunks);
  const types = chunks.map((chunk) => String(chunk.type ?? ""));
  if (types.some((type) => type.startsWith("response."))) return gatherResponses(chunks);
  if (types.includes("message_start")) return gatherAnthropic(chunks);
  throw new UnknownAnswer(`these are the chunks of no answer that is known here: ${shorten(chunks[0])}`);
}

/** Write the beginning of a value. */
export function shorten(value) {
  return String(JSON.stringify(value)).slice(0, 200);
}

const WHOLE = new Set(["index", "id", "type", "role", "name"]);

function gatherChat(chunks) {
  const message = { role: "assistant", content: null };
  const calls = new Map();
  let end = null;
  // The first of several choices; a chunk may have none, such as the one with the usage.
  for (const choice of chunks.flatMap((chunk) => chunk.choices ?? [])) {
    if ((choice.index ?? 0) !== 0) continue;
    const { tool_calls: parts, ...delta } = choice.delta ?? {};
    for (const part of parts ?? []) {
      const index = part.index ?? calls.size;
      if (!calls.has(index)) calls.set(index, {});
      grow(calls.get(index), part);
    }
    grow(message, delta);
    end = choice.finish_reason || end;
  }
  if (calls.size > 0) {
    message.tool_calls = [...calls].sort(([one], [other]) => one - other).map(([, call]) => call);
  }
  return { choices: [{ message, finish_reason: end }] };
}

/** Add what is new: texts grow, but for those that come as a whole, which some providers repeat. */
function grow(whole, delta) {
  for (const [key, value] of Object.entries(delta)) {
    if (value === null || value === undefined || key === "index") continue;
    if (typeof value === "object" && !Array.isArray(value)) {
      whole[key] ??= {};
      grow(whole[key], value);
    } else if (typeof value === "string" && typeof whole[key] === "string" && !WHOLE.has(key)) {
      whole[key] += value;
    } else {
      whole[key] = value;
    }
  }
}

const ENDS = new Set(["response.completed", "response.incomplete", "response.failed"]);

function gatherResponses(events) {
  const end = events.findLast((event) => ENDS.has(event.type));
  if (end) return end.response;
  return { output: events.filter((event) => event.type === "response.output_item.done").map((event) => event.item) };
}

// Where the text of a delta belongs in its block.
const GROWING = { text_delta: "text", thinking_delta: "thinking", input_json_delta: "partial_json" };

function gatherAnthropic(events) {
  const blocks = new Map();
  for (const event of events) {
    if (event.type === "content_block_start") blocks.set(event.index, { ...event.content_block });
    if (event.type === "content_block_delta") growBlock(blocks.get(event.index), event.delta);
  }
  const sorted = [...blocks].sort(([one], [other]) => one - other);
  const said = events.findLast((event) => event.type === "message_delta" && event.delta.stop_reason);
  const end = said?.delta.stop_reason ?? (events.some((it) => it.type === "message_stop") ? "end_turn" : null);
  return { role: "assistant", content: sorted.map(([, block]) => finishBlock(block)), stop_reason: end };
}

function growBlock(block, delta) {
  const key = GROWING[delta.type];
  if (key) block[key] = (block[key] ?? "") + delta[key];
  if (delta.type === "signature_delta") block.signature = delta.signature;
  if (delta.type === "citations_delta") block.citations = [...(block.citations ?? []), delta.citation];
}

function finishBlock({ partial_json: text, ...block }) {
  if (!text) return block;
  try {
    return { ...block, input: parseJson(text) };
  } catch {
    return { ...block, input: text }; // cut off: the server tells the model
  }
}

function gatherGemini(chunks) {
  const heads = chunks.map((chunk) => chunk.candidates?.[0] ?? {});
  const end = heads.findLast((head) => head.finishReason)?.finishReason ?? null;
  return { candidates: [{ content: { role: "model", parts: heads.flatMap((it) => it.content?.parts ?? []) }, finishReason: end }] };
}
