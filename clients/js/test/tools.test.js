// The tools of a server as plain objects, for any framework.

import assert from "node:assert/strict";
import test from "node:test";

import { NotThere, Sidecall, ToolAnswer, loadTools } from "sidecall";

import { ANSWER, say, withServer } from "./scripted.js";

const server = new Sidecall();
const load = async (name, options) => (await loadTools(server, { filters: { names: [name] }, ...options }))[0];
const REFUSED = { type: "urn:sidecall:problem:budget-spent", title: "", status: 429, detail: "Nothing is left.", retry_after: 90 };

test("a tool has a name, a description and parameters without references", async () => {
  const tools = await loadTools(server);
  const { name, description, parameters, mayAsk } = tools.find((it) => it.name === "double");

  assert.deepEqual([name, description, mayAsk], ["double", "Double a number.", false]);
  assert.equal(parameters.properties.number.type, "integer");
  assert.deepEqual(parameters.required, ["number"]);
  assert.equal(tools.find((it) => it.name === "refund").mayAsk, true);
  // One of an order's lines may have lines itself.
  assert.equal(tools.filter((it) => JSON.stringify(it.parameters).includes('"$ref"')).length, 1);
});

test("an answer has content, artifact and status, and the id of its call", async () => {
  const answer = await (await load("find")).call({ query: "tea" }, { id: "a", context: { user: "Ada" } });

  assert.ok(answer instanceof ToolAnswer);
  assert.deepEqual([answer.content, answer.text, answer.artifact], ["tea for Ada", "tea for Ada", { rows: ["tea"] }]);
  assert.deepEqual([answer.status, answer.error, answer.approval, answer.tool_call_id], ["success", null, null, "a"]);
  assert.deepEqual(Object.keys(answer.message).sort(), [
    ...["additional_kwargs", "artifact", "content", "id", "name", "response_metadata", "status", "tool_call_id", "type"],
  ]);
});

test("a failed call is an answer, and so is one that a model can mend", async () => {
  const [failed, unfit, rounded] = await Promise.all([
    (await load("double")).call({ number: -1 }),
    (await load("double")).call({ number: "x" }),
    (await load("repeat_number")).call({ number: 2 ** 60 }),
  ]);

  assert.deepEqual([failed.status, failed.error.kind, failed.content], ["error", "tool_error", "Not below zero."]);
  assert.deepEqual([unfit.error.kind, rounded.error.kind], ["invalid_arguments", "invalid_arguments"]);
});

test("what goes with all calls is what one does not say itself", async () => {
  const recall = await load("recall", { state: { key: "of all" } });

  assert.equal((await recall.call({ key: "key" })).content, "of all");
  assert.equal((await recall.call({ key: "key" }, { state: { key: "of one" } })).content, "of one");
});

test("progress and parts are told as they come", async () => {
  const told = [];
  const answer = await (await load("write")).call(
    { text: "one two" },
    { id: "w", onProgress: (it) => told.push(it), onPartial: (it) => told.push(it) },
  );

  assert.deepEqual(told, [
    { type: "progress", tool_call_id: "w", done: 1, total: 2, message: "begun" },
    { type: "partial", tool_call_id: "w", content: "one" },
    { type: "partial", tool_call_id: "w", content: "two" },
  ]);
  assert.equal(answer.status, "success");
});

for (const onProgress of [undefined, () => undefined]) {
  test(`a call that waits for a person says so, or asks${onProgress ? ", followed or not" : ""}`, async () => {
    const refund = await load("refund", onProgress ? { onProgress } : {});

    const waiting = await refund.call({ order: 7 });
    const approved = await refund.call({ order: 7 }, { ask: (approval) => approval.tool_call.args.order === 7 });
    const rejected = await refund.call({ order: 7 }, { ask: () => ({ decision: "reject", reason: "No." }) });
    await server.approvals.reject(waiting.approval.id);

    assert.deepEqual([waiting.status, waiting.error.kind, waiting.approval.status], ["error", "approval_required", "pending"]);
    assert.match(waiting.content, new RegExp(`refund.*${waiting.approval.id}`));
    assert.deepEqual([approved.content, rejected.content, rejected.status], ["Refunded 100 for order 7.", "No.", "error"]);
  });
}

test("whether a person has to decide is known before", async () => {
  const tool = await load("send");

  assert.deepEqual([await tool.needsApproval({ amount: 5 }), await tool.needsApproval({ amount: 500 })], [false, true]);
});

test("a signal ends the wait", async () => {
  const sleep = await load("sleep");
  const ending = new AbortController();
  const waiting = sleep.call({ seconds: 60 }, { signal: ending.signal });
  ending.abort(new Error("enough"));

  await assert.rejects(waiting, /enough/);
});

test("a conversation goes with the context", async () => {
  await withServer([say(200, [{ name: "double", inputSchema: {} }]), say(200, ANSWER)], async (url, asked) => {
    const [double] = await loadTools(new Sidecall(url), { conversation: "one", context: { user: "Ada" } });
    await double.call({ number: 4 }, { conversation: "two" });

    assert.deepEqual(JSON.parse(asked[1].body).context, { user: "Ada", conversation_id: "two" });
  });
});

test("a budget that is used up is words for the model", async () => {
  const answers = [say(200, [{ name: "double", inputSchema: {} }]), say(429, REFUSED, { "Retry-After": "90" })];
  await withServer(answers, async (url) => {
    const [double] = await loadTools(new Sidecall(url));
    const answer = await double.call({ number: 4 }, { id: "a" });

    assert.deepEqual([answer.status, answer.content, answer.tool_call_id], ["error", "Nothing is left.", "a"]);
    assert.deepEqual(answer.error, { kind: "overloaded", message: "Nothing is left.", retryable: true, retry_after_ms: 90000 });
  });
});

test("other problems are thrown, and so are options that there are not", async () => {
  const problem = { type: "urn:sidecall:problem:not-found", title: "", status: 404, detail: "Nothing here." };
  await withServer([say(200, [{ name: "double", inputSchema: {} }]), say(404, problem)], async (url) => {
    const [double] = await loadTools(new Sidecall(url));

    await assert.rejects(double.call({ number: 4 }), NotThere);
  });
  await assert.rejects(loadTools(server, { name: "x" }), /loadTools does not take name/);
  await assert.rejects((await load("double")).call({}, { retries: 1 }), /a call does not take retries/);
});
