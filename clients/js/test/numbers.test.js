// Integers beyond 2**53 - 1 keep each digit, or are refused.

import assert from "node:assert/strict";
import test from "node:test";

import { RequestUnfit, Sidecall } from "sidecall";

import { ANSWER, say, withServer } from "./scripted.js";

const server = new Sidecall();
const SAYS = /may have been rounded/;
const drain = async (events) => {
  for await (const _ of events);
};

test("a BigInt is written as text, and keeps its digits", async () => {
  for (const number of [2n ** 53n + 1n, 12345678901234567890n, -(2n ** 63n), 10n ** 30n + 1n, 7n]) {
    const answer = await server.call("repeat_number", { number, among: [number, { deep: number }] });
    assert.equal(answer.content, `${number} [${number}, {'deep': ${number}}]`);
    const [batched] = await server.batch([{ name: "repeat_number", args: { number } }]);
    assert.equal(batched.content, `${number} None`);
    const approved = await server.preview("repeat_number", { number });
    assert.equal(approved.would_run, true);
  }
  assert.equal((await server.call("repeat_any", { value: Object(2n ** 64n) })).content, "'18446744073709551616'");
  assert.equal((await server.call("repeat_any", { value: 2n ** 53n })).content, "'9007199254740992'");
  assert.equal((await server.call("weigh", { mass: 5972000000000000000000000n })).content, "5.972e+24");
});

for (const number of [2 ** 53, -(2 ** 53), 12345678901234567890, 1e21, 10 ** 30, 10 ** 400, -Infinity, new Number(2 ** 60)]) {
  for (const args of [{ number }, { number: 1, among: [1, number] }, { number: 1, among: [{ deep: number }] }]) {
    test(`a number that may have been rounded is refused: ${number} in ${JSON.stringify(args)}`, async () => {
      for (const ask of [
        () => server.call("repeat_number", args),
        () => server.call({ name: "repeat_number", args, id: "a" }),
        () => server.call("repeat_number", { number: 1 }, { state: args }),
        () => server.call("repeat_number", { number: 1 }, { context: args }),
        () => server.tools("openai", { context: args }),
        () => server.preview("repeat_number", args),
        () => server.job("repeat_number", args),
        () => drain(server.stream("repeat_number", args)),
        () => server.approvals.approve("a", { args }),
      ]) {
        await assert.rejects(ask(), (error) => error instanceof RequestUnfit && SAYS.test(error.message));
      }
      const [refused, run] = await server.batch([
        { name: "repeat_number", args },
        { name: "double", args: { number: 4 } },
      ]);
      assert.match(refused.content, SAYS);
      assert.deepEqual([refused.status, refused.name, run.content], ["error", "repeat_number", "8"]);
    });
  }
}

test("numbers that are exact are sent, and so are texts of digits", async () => {
  const exact = [2 ** 53 - 1, -(2 ** 53) + 1, 0, 0.1, 1.5e15, 1e-7, 123456789012345.6, 9007199254740991.0];
  for (const value of exact) {
    assert.equal(Number((await server.call("repeat_any", { value })).content), value);
  }
  assert.equal((await server.call("repeat_any", { value: "9007199254740993 1e+30" })).content, "'9007199254740993 1e+30'");
  assert.equal((await server.call("repeat_number", { number: "9007199254740993" })).content, "9007199254740993 None");
  assert.equal((await server.call("weigh", { mass: "6.022e23" })).content, "6.022e+23");
});

const big = { number: 12345678901234567890 };
// As JSON.parse reads an integer of 401 digits.
const larger = { number: Infinity };
const TURNS = {
  "anthropic": [
    { role: "assistant", stop_reason: "tool_use", content: [{ type: "tool_use", id: "a", name: "repeat_number", input: big }] },
    (it) => [it[1].content[0].content, it[1].content[0].is_error],
  ],
  "anthropic, of 401 digits": [
    { role: "assistant", stop_reason: "tool_use", content: [{ type: "tool_use", id: "b", name: "repeat_number", input: larger }] },
    (it) => [it[1].content[0].content, it[1].content[0].is_error],
  ],
  "gemini": [
    { candidates: [{ content: { role: "model", parts: [{ functionCall: { name: "repeat_number", args: big } }] } }] },
    (it) => [it[1].parts[0].functionResponse.response.error, true],
  ],
  "gemini, steps": [
    { status: "requires_action", steps: [{ type: "function_call", id: "a", name: "repeat_number", arguments: big }] },
    (it) => [it[1].result, it[1].is_error],
  ],
  "ollama": [
    { done: true, message: { role: "assistant", tool_calls: [{ function: { name: "repeat_number", arguments: big } }] } },
    (it) => [it[1].content, true],
  ],
};

for (const [name, [said, read]] of Object.entries(TURNS)) {
  test(`a model whose number was rounded on its way is told: ${name}`, async () => {
    const [told, isError] = read(await server.run(said));

    assert.match(told, SAYS);
    assert.equal(isError, true);
  });
}

test("digits that a model has written as text are kept", async () => {
  const text = '{"number": 12345678901234567890}';
  const chat = { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "repeat_number", arguments: text } }] };
  const item = { output: [{ type: "function_call", call_id: "a", name: "repeat_number", arguments: text }] };
  const start = { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "repeat_number", input: {} } };
  const chunks = [
    { type: "message_start", message: {} },
    start,
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: text } },
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
  ];

  assert.equal((await server.run(chat))[1].content, "12345678901234567890 None");
  assert.equal((await server.run(item))[1].output, "12345678901234567890 None");
  assert.equal((await server.run(chunks))[1].content[0].content, "12345678901234567890 None");
});

test("integers that a number would round come as text, all else as it is", async () => {
  const { artifact } = await server.call("repeat_number", { number: "9007199254740993" });
  const short = await server.call("repeat_number", { number: "9007199254740993" }, { timeout: 5 });
  const small = await server.call("repeat_number", { number: 9007199254740991 });

  assert.deepEqual(artifact, { number: "9007199254740993", half: 0.5, text: "9007199254740993" });
  assert.deepEqual(short.artifact, artifact);
  assert.equal(small.artifact.number, 9007199254740991);
  const odd = String.raw`{"content": "", "tool_call_id": "a", "artifact": ["\"12345678901234567890", -12345678901234567890, 12345678901234567.5, 1e300, 1]}`;
  await withServer([(_request, response) => response.writeHead(200, { "Content-Type": "application/json" }).end(odd)], async (url) => {
    const read = await new Sidecall(url).call("double");
    assert.deepEqual(read.artifact, ['"12345678901234567890', "-12345678901234567890", 12345678901234567.5, 1e300, 1]);
  });
});

test("the bounds in a schema stay numbers", async () => {
  const schema = { type: "object", properties: { a: { type: "integer", maximum: 9223372036854775807 } } };
  await withServer([say(200, [{ name: "a", inputSchema: schema }])], async (url) => {
    assert.equal(typeof (await new Sidecall(url).tools("mcp"))[0].inputSchema.properties.a.maximum, "number");
  });
});

test("what is sent once is the same that is sent again", async () => {
  const busy = say(503, { type: "urn:sidecall:problem:overloaded", title: "No." }, { "Retry-After": "0" });
  await withServer([busy, say(200, ANSWER)], async (url, asked) => {
    await new Sidecall(url).call("double", { number: 2n ** 64n });
    assert.deepEqual(asked.map((it) => JSON.parse(it.body).args), [{ number: "18446744073709551616" }, { number: "18446744073709551616" }]);
  });
});
