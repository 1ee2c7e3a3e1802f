// What any provider's model says is run, and what comes back is what its next request takes.

import assert from "node:assert/strict";
import test from "node:test";

import OpenAI from "openai";
import { ApprovalNeeded, Sidecall, UnknownAnswer } from "sidecall";

import * as said from "./said.js";

const server = new Sidecall();

async function* flow(chunks) {
  yield* chunks;
}

/** Make a client of OpenAI whose server says these things one after the other, and keep what it was asked. */
function script(...answers) {
  const asked = [];
  const fetch = async (_url, { body }) => {
    const request = JSON.parse(body);
    asked.push(request);
    const answer = answers.shift();
    if (!request.stream) return Response.json(answer);
    const events = answer.map((it) => `${it.type ? `event: ${it.type}\n` : ""}data: ${JSON.stringify(it)}\n\n`);
    return new Response(events.join(""), { headers: { "Content-Type": "text/event-stream" } });
  };
  return [new OpenAI({ apiKey: "none", fetch }), asked];
}

const request = { model: "scripted", messages: [{ role: "user", content: "Double 4." }] };
const asResponses = { model: "scripted", input: "Double 4." };
const openai = (...answers) => script(...answers)[0];

const TABLE = {
  "chat": [() => said.CHAT, said.CHAT_MESSAGES],
  "chat, of the SDK": [() => openai(said.CHAT).chat.completions.create(request), said.CHAT_MESSAGES],
  "chat, message": [() => said.CHAT.choices[0].message, said.CHAT_MESSAGES],
  "chat, chunks": [() => said.CHAT_CHUNKS, said.CHAT_MESSAGES],
  "chat, stream": [() => openai(said.CHAT_CHUNKS).chat.completions.create({ ...request, stream: true }), said.CHAT_MESSAGES],
  "chat, stream with events": [() => openai(said.CHAT_CHUNKS).chat.completions.stream(request), said.CHAT_MESSAGES],
  "responses": [() => said.RESPONSE, said.RESPONSE_MESSAGES],
  "responses, of the SDK": [() => openai(said.RESPONSE).responses.create(asResponses), said.RESPONSE_MESSAGES],
  "responses, events": [() => said.RESPONSE_EVENTS.slice(0, -1), said.RESPONSE_MESSAGES],
  "responses, stream": [() => openai(said.RESPONSE_EVENTS).responses.create({ ...asResponses, stream: true }), said.RESPONSE_MESSAGES],
  "responses, stream with events": [() => openai(said.RESPONSE_EVENTS).responses.stream(asResponses), said.RESPONSE_MESSAGES],
  "anthropic": [() => said.ANTHROPIC, said.ANTHROPIC_MESSAGES],
  "anthropic, events": [() => flow(said.ANTHROPIC_EVENTS), said.ANTHROPIC_MESSAGES],
  "gemini": [() => said.GEMINI, said.GEMINI_MESSAGES],
  "gemini, content": [() => said.CONTENT, said.GEMINI_MESSAGES],
  "gemini, chunks": [() => flow(said.GEMINI_CHUNKS), said.GEMINI_MESSAGES],
};

for (const [name, [say, expected]] of Object.entries(TABLE)) {
  test(`run takes ${name}`, async () => {
    assert.deepEqual(await server.run(say()), expected);
  });
}

test("a stream that was read to its end is run too", async () => {
  const stream = openai(said.CHAT_CHUNKS).chat.completions.stream(request);
  for await (const _ of stream);

  assert.deepEqual(await server.run(stream), said.CHAT_MESSAGES);
});

test("a loop of OpenAI ends, and repairs what was wrong", async () => {
  const wrong = structuredClone(said.CHAT);
  wrong.choices[0].message.tool_calls[0].function.arguments = '{"number": "four"}';
  const done = { ...said.CHAT, choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "8." } }] };
  const [client, asked] = script(wrong, said.CHAT, done);
  const messages = [...request.messages];
  let response;

  const ask = async () => client.chat.completions.create({ model: "scripted", messages, tools: await server.tools() });
  for (let more; (more = await server.run((response = await ask()))).length; ) messages.push(...more);

  assert.equal(response.choices[0].message.content, "8.");
  assert.equal(asked[0].tools[0].function.name, "double");
  assert.match(asked[1].messages.at(-1).content, /number/);
  assert.equal(asked[2].messages.at(-1).content, "8");
});

test("the answers alone are to be had", async () => {
  assert.deepEqual(await server.run(said.RESPONSE, { answersOnly: true }), said.RESPONSE_MESSAGES.slice(2));
});

test("nothing is to append where no tool is called, and nonsense is refused", async () => {
  assert.deepEqual(await server.run({ choices: [{ message: { role: "assistant", content: "Hello." } }] }), []);
  const blocked = { promptFeedback: { blockReason: "SAFETY" } };
  assert.deepEqual([await server.run(blocked), await server.run([blocked])], [[], []]);
  for (const nonsense of ["text", 4, {}, [], [{ a: 1 }], { role: "user", content: "Hello" }]) {
    await assert.rejects(server.run(nonsense), UnknownAnswer);
  }
});

test("arguments that were cut off reach the model as its mistake", async () => {
  const events = said.ANTHROPIC_EVENTS.filter((event) => event.delta?.partial_json !== ": 4}");

  const [model, tools] = await server.run(events);

  assert.deepEqual(model.content[2].input, {});
  assert.equal(tools.content[0].is_error, true);
});

const half = (end) => ({ ...said.CHAT, choices: [{ ...said.CHAT.choices[0], finish_reason: end }] });
const CUSTOM = { type: "custom_tool_call", call_id: "call_1", name: "double", input: said.ARGUMENTS };
const BLOCK_STOP = { type: "message_delta", delta: { stop_reason: "max_tokens" } };
const STEP = { type: "function_call", id: "call_1", name: "double", arguments: { number: 4 } };
const CUT_OFF = {
  "chat": half("length"),
  "chat, no end": half(null),
  "chat, chunks without an end": said.CHAT_CHUNKS.slice(0, -1),
  "responses": { ...said.RESPONSE, status: "incomplete" },
  "responses, the item says so": { output: [{ ...CUSTOM, status: "incomplete" }] },
  "responses, events": [{ type: "response.incomplete", response: { ...said.RESPONSE, status: "incomplete" } }],
  "anthropic": { ...said.ANTHROPIC, stop_reason: "max_tokens" },
  "anthropic, events": said.ANTHROPIC_EVENTS.toSpliced(-1, 0, BLOCK_STOP),
  "anthropic, events without an end": said.ANTHROPIC_EVENTS.slice(0, -1),
  "gemini": { candidates: [{ content: said.CONTENT, finishReason: "MAX_TOKENS" }] },
  "gemini, chunks without an end": said.GEMINI_CHUNKS.slice(0, -1),
  "gemini, chunks": [...said.GEMINI_CHUNKS, { candidates: [{ finishReason: "MAX_TOKENS" }] }],
  "interaction": { status: "incomplete", steps: [STEP] },
};

for (const [name, cut] of Object.entries(CUT_OFF)) {
  test(`the last call of an answer that was cut off is told to the model: ${name}`, async () => {
    const answers = JSON.stringify(await server.run(cut, { answersOnly: true }));

    assert.match(answers, /The call was cut off before its end/);
    assert.doesNotMatch(answers, /"8"/);
  });
}

test("of an answer that was cut off the calls before the last one run", async () => {
  const item = { ...said.ITEMS[1], call_id: "call_2" };

  const answers = await server.run({ status: "incomplete", output: [...said.ITEMS, item] }, { answersOnly: true });

  assert.equal(answers[0].output, "8");
  assert.match(answers[1].output, /cut off/);
});

test("an interaction of Gemini gets its results", async () => {
  const result = { type: "function_result", call_id: "call_1", name: "double", result: "8", is_error: false };
  const turns = [{ role: "model", content: [STEP] }, { role: "user", content: [result] }];

  assert.deepEqual(await server.run({ status: "requires_action", steps: [STEP] }), [STEP, result]);
  assert.deepEqual(await server.run({ status: "requires_action", outputs: [STEP] }), turns);
  assert.deepEqual(await server.run({ status: "completed", steps: [STEP, result] }), []);
});

test("calls without ids are answered without ids", async () => {
  const { id, ...call } = said.CONTENT.parts[1].functionCall;

  const [answered] = await server.run({ role: "model", parts: [{ functionCall: call }] }, { answersOnly: true });

  assert.deepEqual(answered.parts, [{ functionResponse: { name: "double", response: { output: "8" } } }]);
});

test("a turn goes on when a person has decided, and runs no call twice", async () => {
  const make = () => [
    { id: "a", type: "function", function: { name: "double", arguments: said.ARGUMENTS } },
    { id: crypto.randomUUID(), type: "function", function: { name: "refund", arguments: '{"order": 7}' } },
  ];
  const say = () => ({ role: "assistant", content: null, tool_calls: make() });

  const needed = await server.run(say()).catch((error) => error);
  await server.approvals.approve(needed.approvals[0].id, { args: { order: 7, amount: 5 } });
  const messages = await server.run(needed.turn);
  const rejected = await server.run(say(), { ask: () => ({ decision: "reject", reason: "No receipt." }) });

  assert.ok(needed instanceof ApprovalNeeded);
  assert.deepEqual(messages.slice(1).map((it) => it.content), ["8", "Refunded 5 for order 7."]);
  assert.deepEqual(rejected.slice(1).map((it) => it.content), ["8", "No receipt."]);
});

// Calls without ids of their own.
const makeCall = (number, id) => ({
  ...(id === undefined ? {} : { id }),
  type: "function",
  function: { name: "double", arguments: JSON.stringify({ number }) },
});
const makeChat = (ids) => ({
  ...said.CHAT,
  choices: [{
    index: 0,
    finish_reason: "tool_calls",
    message: { role: "assistant", content: null, tool_calls: ids.map((id, index) => makeCall(4 + index, id)) },
  }],
});

function readIds(items, name) {
  const ids = items.map((it) => it[name]);
  assert.ok(ids.every((id) => typeof id === "string" && id !== ""));
  assert.equal(new Set(ids).size, ids.length);
  return ids;
}

for (const ids of [[undefined, undefined], [null, null], ["", ""], ["call_0", "call_0"], ["call_0", ""]]) {
  test(`a message and its answers have the same ids: ${JSON.stringify(ids)}`, async () => {
    const whole = makeChat(ids);
    const alone = makeChat(ids);

    const [first, ...answers] = await server.run(whole);
    const onlyAnswers = await server.run(alone, { answersOnly: true });

    assert.deepEqual(readIds(first.tool_calls, "id"), readIds(answers, "tool_call_id"));
    assert.deepEqual(answers.map((it) => it.content), ["8", "10"]);
    assert.deepEqual(readIds(whole.choices[0].message.tool_calls, "id"), readIds(answers, "tool_call_id"));
    assert.deepEqual(readIds(alone.choices[0].message.tool_calls, "id"), readIds(onlyAnswers, "tool_call_id"));
  });
}

test("so have the answers that an SDK gives, and chunks", async () => {
  const client = new OpenAI({ apiKey: "none", fetch: async () => Response.json(makeChat(["", ""])) });
  const response = await client.chat.completions.create({ model: "scripted", messages: [] });
  const chunks = structuredClone(said.CHAT_CHUNKS);
  for (const call of chunks.flatMap((it) => it.choices).flatMap((it) => it.delta?.tool_calls ?? [])) delete call.id;

  const answers = await server.run(response, { answersOnly: true });
  const [first, answered] = await server.run(chunks);

  assert.deepEqual(readIds(response.choices[0].message.tool_calls, "id"), readIds(answers, "tool_call_id"));
  assert.deepEqual(readIds(first.tool_calls, "id"), [answered.tool_call_id]);
});

test("so have the other APIs", async () => {
  const response = structuredClone(said.RESPONSE);
  const message = structuredClone(said.ANTHROPIC);
  for (const item of response.output) if (item.type === "function_call") item.call_id = "";
  for (const block of message.content) if (block.type === "tool_use") delete block.id;

  const [output] = await server.run(response, { answersOnly: true });
  const [, answered] = await server.run(message);

  assert.deepEqual(readIds(response.output.filter((it) => it.type === "function_call"), "call_id"), [output.call_id]);
  assert.deepEqual(
    readIds(message.content.filter((it) => it.type === "tool_use"), "id"),
    [answered.content[0].tool_use_id],
  );
});

test("Gemini gets back what its model gave", async () => {
  const parts = [{ functionCall: { id: "", name: "double", args: { number: 4 } } }];

  const [, answered] = await server.run({ role: "model", parts });

  assert.deepEqual(answered.parts, [{ functionResponse: { id: "", name: "double", response: { output: "8" } } }]);
});

// Ollama's own form.
const CALLS = [4, 5].map((number) => ({ function: { name: "double", arguments: { number } } }));
const makeAnswer = (tool_calls, more) => ({
  model: "qwen3",
  message: { role: "assistant", content: "", tool_calls },
  done: true,
  done_reason: "stop",
  ...more,
});
const tell = (content, more) => ({ role: "tool", tool_name: "double", content, ...more });
const CUT = "The call was cut off before its end, so nothing has run. Send it again as a whole.";
const OF_OLLAMA = {
  "answer": [makeAnswer(CALLS), [tell("8"), tell("10")]],
  "message": [makeAnswer(CALLS).message, [tell("8"), tell("10")]],
  "with ids": [makeAnswer([{ id: "a", ...CALLS[0] }]), [tell("8", { tool_call_id: "a" })]],
  "cut off": [makeAnswer(CALLS, { done_reason: "length" }), [tell("8"), tell(CUT)]],
  "chunks": [[makeAnswer([CALLS[0]], { done: false }), makeAnswer([CALLS[1]])], [tell("8"), tell("10")]],
  "broken off": [[makeAnswer(CALLS, { done: false })], [tell("8"), tell(CUT)]],
  "no calls": [{ message: { role: "assistant", content: "8." }, done: true }, []],
};

for (const [name, [given, answers]] of Object.entries(OF_OLLAMA)) {
  test(`Ollama gets its own form: ${name}`, async () => {
    const messages = await server.run(given);
    const calls = name === "with ids" ? [{ id: "a", ...CALLS[0] }] : CALLS;

    assert.deepEqual(messages.slice(1), answers);
    if (answers.length) assert.deepEqual(messages[0], { role: "assistant", content: "", tool_calls: calls });
    assert.deepEqual(await server.run(given, { answersOnly: true }), answers);
  });
}
