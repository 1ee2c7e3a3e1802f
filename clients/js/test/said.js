// What models of each provider say, whole and in chunks; the calls are the same.

export const ARGUMENTS = '{"number": 4}';
const FUNCTION = { name: "double", arguments: ARGUMENTS };
const CALL = { id: "call_1", type: "function", function: FUNCTION };

export const CHAT = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 0,
  model: "scripted",
  choices: [{ index: 0, finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: [CALL] } }],
};
const chunk = (delta, end = null) => ({
  id: "1",
  object: "chat.completion.chunk",
  created: 0,
  model: "scripted",
  choices: [{ index: 0, delta, finish_reason: end }],
});
export const CHAT_CHUNKS = [
  chunk({ role: "assistant", content: null }),
  chunk({ tool_calls: [{ index: 0, ...CALL, function: { ...FUNCTION, arguments: "" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"num' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: 'ber": 4}' } }] }),
  chunk({}, "tool_calls"),
];
export const CHAT_MESSAGES = [CHAT.choices[0].message, { role: "tool", tool_call_id: "call_1", content: "8" }];

export const ITEMS = [
  { type: "reasoning", id: "rs_1", summary: [] },
  { type: "function_call", id: "fc_1", call_id: "call_1", status: "completed", ...FUNCTION },
];
export const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 0,
  model: "scripted",
  output: ITEMS,
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
};
export const RESPONSE_EVENTS = [
  { type: "response.created", sequence_number: 0, response: { ...RESPONSE, output: [] } },
  ...ITEMS.flatMap((item, index) => [
    { type: "response.output_item.added", sequence_number: 2 * index + 1, output_index: index, item },
    { type: "response.output_item.done", sequence_number: 2 * index + 2, output_index: index, item },
  ]),
  { type: "response.completed", sequence_number: 5, response: RESPONSE },
];
export const RESPONSE_MESSAGES = [...ITEMS, { type: "function_call_output", call_id: "call_1", output: "8" }];

const BLOCKS = [
  { type: "thinking", thinking: "Let me see.", signature: "c2ln" },
  { type: "text", text: "I double it." },
  { type: "tool_use", id: "call_1", name: "double", input: { number: 4 } },
];
export const ANTHROPIC = { id: "msg_1", type: "message", role: "assistant", content: BLOCKS, stop_reason: "tool_use" };
const delta = (index, it) => ({ type: "content_block_delta", index, delta: it });
export const ANTHROPIC_EVENTS = [
  { type: "message_start", message: { ...ANTHROPIC, content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  delta(0, { type: "thinking_delta", thinking: "Let me " }),
  delta(0, { type: "thinking_delta", thinking: "see." }),
  delta(0, { type: "signature_delta", signature: "c2ln" }),
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  delta(1, { type: "text_delta", text: "I double it." }),
  { type: "content_block_start", index: 2, content_block: { type: "tool_use", id: "call_1", name: "double", input: {} } },
  delta(2, { type: "input_json_delta", partial_json: '{"number"' }),
  delta(2, { type: "input_json_delta", partial_json: ": 4}" }),
  { type: "message_stop" },
];
const RESULT = { type: "tool_result", tool_use_id: "call_1", content: "8", is_error: false };
export const ANTHROPIC_MESSAGES = [{ role: "assistant", content: BLOCKS }, { role: "user", content: [RESULT] }];

export const CONTENT = {
  role: "model",
  parts: [
    { text: "I double it." },
    { functionCall: { id: "call_1", name: "double", args: { number: 4 } }, thoughtSignature: "AAEC" },
  ],
};
export const GEMINI = { candidates: [{ content: CONTENT, finishReason: "STOP" }] };
export const GEMINI_CHUNKS = CONTENT.parts.map((part) => ({ candidates: [{ content: { role: "model", parts: [part] } }] })).concat({ candidates: [{ finishReason: "STOP" }] });
const PART = { functionResponse: { id: "call_1", name: "double", response: { output: "8" } } };
export const GEMINI_MESSAGES = [CONTENT, { role: "user", parts: [PART] }];
