// A call may last: the head of its answer comes before the tool has ended, since Node's fetch waits for no head longer
// than 300 seconds. Here the tools end only once there is a head.

import assert from "node:assert/strict";
import test from "node:test";

import { Sidecall } from "sidecall";

const server = new Sidecall();

/** Make a client that lets the tools go on once a request is answered; with what it has sent. */
function follow(...keys) {
  const asked = [];
  const fetch = async (url, request) => {
    asked.push(request);
    const response = await globalThis.fetch(url, request);
    for (const key of keys) await server.call("release", { key }, { timeout: 5 });
    return response;
  };
  return [new Sidecall(undefined, { fetch }), asked];
}

const call = (key, id) => ({ type: "tool_call", name: "hold", args: { key }, ...(id ? { id } : {}) });
const make = () => crypto.randomUUID();

test("a call", async () => {
  const key = make();
  const [client] = follow(key);

  const answer = await client.call("hold", { key });

  assert.deepEqual([answer.content, answer.status], [`${key} was released.`, "success"]);
});

test("a call with a time of its own, and a short one, which is asked for plainly", async () => {
  const key = make();
  const [client, asked] = follow(key);

  assert.equal((await client.call("hold", { key }, { timeout: 400 })).content, `${key} was released.`);
  await client.call("hold", { key }, { timeout: 5 });
  assert.deepEqual([asked[0].headers.Accept, asked[1].headers.Accept], ["text/event-stream", undefined]);
});

test("a call with a key is asked for again until it has ended", async () => {
  const key = make();
  const [client, asked] = follow();

  const answer = client.call("hold", { key }, { key });
  await server.call("release", { key });

  assert.equal((await answer).content, `${key} was released.`);
  assert.equal(asked[0].headers.Prefer, "wait=20");
});

test("a batch, whose answers come in the calls' order", async () => {
  const keys = [make(), make(), make()];
  const [client] = follow(...keys.toReversed());

  const answers = await client.batch([call(keys[0]), call(keys[1], "mine"), { name: "double", args: { number: -1 } }, call(keys[2])]);

  const expected = [`${keys[0]} was released.`, `${keys[1]} was released.`, "Not below zero.", `${keys[2]} was released.`];
  assert.deepEqual(answers.map((it) => it.content), expected);
  assert.equal(answers[1].tool_call_id, "mine");
});

test("calls whose ids do not tell them apart are answered in order, too", async () => {
  const twice = [1, 2].map((number) => ({ type: "tool_call", name: "double", args: { number }, id: "same" }));

  assert.deepEqual((await server.batch(twice)).map((it) => it.content), ["2", "4"]);
});

for (const [name, said, read] of [
  ["chat", (key) => ({ role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "hold", arguments: JSON.stringify({ key }) } }] }), (it) => it[1].content],
  ["responses", (key) => ({ output: [{ type: "function_call", id: "fc", call_id: "a", name: "hold", arguments: JSON.stringify({ key }) }] }), (it) => it[1].output],
  ["anthropic", (key) => ({ role: "assistant", content: [{ type: "tool_use", id: "a", name: "hold", input: { key } }] }), (it) => it[1].content[0].content],
  ["gemini", (key) => ({ role: "model", parts: [{ functionCall: { name: "hold", args: { key } } }] }), (it) => it[1].parts[0].functionResponse.response.output],
  ["ollama", (key) => ({ done: true, message: { role: "assistant", tool_calls: [{ function: { name: "hold", arguments: { key } } }] } }), (it) => it[1].content],
]) {
  test(`what a model calls: ${name}`, async () => {
    const key = make();
    const [client] = follow(key);

    assert.equal(read(await client.run(said(key))), `${key} was released.`);
  });
}

test("a tool of the AI SDK", async () => {
  const key = make();
  const [client] = follow(key);

  const { hold } = await client.aiTools({ filters: { names: ["hold"] } });

  assert.equal((await hold.execute({ key }, { toolCallId: make(), messages: [] })).content, `${key} was released.`);
});

test("an approved call whose connection is lost is asked for until it is answered", async () => {
  const key = make();
  const needed = await server.call("hold_for_person", { key }).catch((error) => error);
  const fetch = async (url, request) => {
    if (request.method !== "POST") return globalThis.fetch(url, request);
    // As Node's fetch does where no head comes: the request has reached the server, and is given up.
    const control = new AbortController();
    const sent = globalThis.fetch(url, { ...request, signal: control.signal });
    while ((await server.approvals.show(needed.approvals[0].id)).status === "pending");
    control.abort();
    await sent.catch(() => undefined);
    await server.call("release", { key });
    throw new TypeError("fetch failed", { cause: { code: "UND_ERR_HEADERS_TIMEOUT" } });
  };

  const approval = await new Sidecall(undefined, { fetch }).approvals.approve(needed.approvals[0].id);

  assert.deepEqual([approval.status, approval.message.content], ["approved", `${key} was released.`]);
});

test("a call that waits for a person, alone and among others", async () => {
  const key = make();
  await server.call("release", { key });
  const waiting = { name: "hold_for_person", args: { key } };

  const answer = await server.call(waiting, undefined, { ask: () => true });
  const [first, second] = await server.batch([waiting, { name: "double", args: { number: 4 } }], { ask: () => true });
  const needed = await server.batch([{ name: "double", args: { number: 4 } }, waiting]).catch((error) => error);
  await server.approvals.reject(needed.approvals[0].id, "No.");
  const [, refused] = await server.run(needed.turn).then(() => needed.turn.answers);

  assert.equal(answer.content, `${key} was released.`);
  assert.deepEqual([first.content, second.content], [`${key} was released.`, "8"]);
  assert.equal(refused.content, "No.");
});
