// Models on loopback that ask for the tools they are told to, in the forms of three providers, whole or as streams.

import { withServer } from "../scripted.js";

/**
 * Run something with a model that asks for the calls of one step after the other, and is done then. A call is the name of a
 * tool and its arguments, as JSON or as the text that stands for it. `act` gets the address, and what the model has heard.
 */
export async function withModel(form, steps, act) {
  const left = [...steps];
  const heard = [];
  const answer = (request, response, text) => {
    const body = JSON.parse(text);
    heard.push(body);
    const said = FORMS[form](left.length > 0 ? left.shift().map(readStep) : []);
    if (!body.stream && !request.url.includes("alt=sse")) {
      return response.writeHead(200, { "Content-Type": "application/json" }).end(said.whole);
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(said.parts.map((it) => `${it.type ? `event: ${it.type}\n` : ""}data: ${it.text}\n\n`).join(""));
  };
  return withServer([answer], (url) => act(url, heard));
}

/** Make an id; frameworks take a message for an earlier one of the same id, and so do servers a call. */
function makeId(kind) {
  return `${kind}_${crypto.randomUUID()}`;
}

function readStep([name, args = {}]) {
  const id = makeId("call");
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { id, name, text, marked: `@${id}@` };
}

/** Write JSON in which marks become arguments as they were written, with each digit of theirs. */
function write(value, calls) {
  return calls.reduce((text, call) => text.replaceAll(`"${call.marked}"`, call.text || "{}"), JSON.stringify(value));
}

const event = (calls) => (value) => ({ type: value.type, text: write(value, calls) });

function sayChat(calls) {
  const about = { id: makeId("chatcmpl"), created: 0, model: "scripted" };
  const asked = calls.map(({ id, name, text }) => ({ id, type: "function", function: { name, arguments: text } }));
  const message = { role: "assistant", content: calls.length > 0 ? null : "Done.", ...(calls.length > 0 ? { tool_calls: asked } : {}) };
  const end = calls.length > 0 ? "tool_calls" : "stop";
  const chunk = (delta, finish_reason = null) => ({ ...about, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
  const begun = asked.map((it, index) => ({ ...it, index, function: { ...it.function, arguments: "" } }));
  const halves = asked.flatMap((it, index) => {
    const { arguments: text } = it.function;
    return [text.slice(0, 4), text.slice(4)].map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] }));
  });
  const deltas = calls.length > 0 ? [...begun.map((it) => chunk({ tool_calls: [it] })), ...halves] : [chunk({ content: "Done." })];
  const chunks = [chunk({ role: "assistant", content: "" }), ...deltas, chunk({}, end)];
  return {
    whole: JSON.stringify({ ...about, object: "chat.completion", choices: [{ index: 0, message, finish_reason: end, logprobs: null }] }),
    parts: [...chunks.map((it) => ({ text: JSON.stringify(it) })), { text: "[DONE]" }],
  };
}

function sayResponse(calls) {
  const text = { type: "output_text", text: "Done.", annotations: [], logprobs: [] };
  const words = { type: "message", id: makeId("msg"), role: "assistant", status: "completed", content: [text] };
  const items = calls.map(({ id, name, text: given }) => ({ type: "function_call", id: `fc_${id}`, call_id: id, status: "completed", name, arguments: given }));
  const output = calls.length > 0 ? items : [words];
  const usage = { input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 };
  const settings = { parallel_tool_calls: true, tool_choice: "auto", tools: [], usage, status: "completed", error: null, incomplete_details: null };
  const response = { id: makeId("resp"), object: "response", created_at: 0, model: "scripted", output, ...settings };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item: item === words ? { ...words, content: [] } : { ...item, arguments: "" } },
      ...(item === words
        ? [{ type: "response.content_part.added", item_id: item.id, output_index, content_index: 0, part: text }]
        : [{ type: "response.function_call_arguments.delta", item_id: item.id, output_index, delta: item.arguments }]),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response },
  ];
  return { whole: JSON.stringify(response), parts: events.map((it, sequence_number) => event([])({ ...it, sequence_number })) };
}

function sayAnthropic(calls) {
  const about = { id: makeId("msg"), type: "message", role: "assistant", model: "scripted", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
  const asked = calls.map(({ id, name, marked }) => ({ type: "tool_use", id, name, input: marked }));
  const content = calls.length > 0 ? asked : [{ type: "text", text: "Done." }];
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const events = [
    { type: "message_start", message: { ...about, content: [], stop_reason: null } },
    ...content.flatMap((block, index) => {
      const isText = block.type === "text";
      const delta = isText ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: calls[index].text };
      return [
        { type: "content_block_start", index, content_block: isText ? { ...block, text: "" } : { ...block, input: {} } },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
      ];
    }),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  return { whole: write({ ...about, content, stop_reason }, calls), parts: events.map(event([])) };
}

function sayGemini(calls) {
  const asked = calls.map(({ id, name, marked }) => ({ functionCall: { id, name, args: marked }, thoughtSignature: "AAEC" }));
  const parts = calls.length > 0 ? asked : [{ text: "Done." }];
  const candidate = (some, end) => ({ candidates: [{ index: 0, content: { role: "model", parts: some }, ...(end ? { finishReason: "STOP" } : {}) }] });
  const chunks = parts.map((part, index) => candidate([part], index === parts.length - 1));
  return { whole: write(candidate(parts, true), calls), parts: chunks.map((it) => ({ text: write(it, calls) })) };
}

const FORMS = { chat: sayChat, responses: sayResponse, anthropic: sayAnthropic, gemini: sayGemini };
