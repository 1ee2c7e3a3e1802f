// An agent of LangChain has the server's tools by one line.

import assert from "node:assert/strict";
import test from "node:test";

import { ToolMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { Sidecall, ToolCallFailed } from "sidecall";
import { loadTools } from "sidecall/langchain";

import { z } from "zod";

import { withModel } from "./models.js";

const server = new Sidecall();
const connect = (url) => new ChatOpenAI({ model: "m", apiKey: "none", maxRetries: 0, configuration: { baseURL: `${url}/v1` } });
const ask = { messages: [{ role: "user", content: "Please." }] };
const readAnswers = ({ messages }) => messages.filter((it) => ToolMessage.isInstance(it));
const inThread = () => ({ configurable: { thread_id: crypto.randomUUID() } });

/** Run an agent whose model asks for these calls, step by step. */
async function withAgent(steps, act, options = {}, more = {}) {
  const tools = await loadTools(server, options);
  await withModel("chat", steps, (url, heard) =>
    act(createAgent({ model: connect(url), tools, checkpointer: new MemorySaver(), ...more }), heard),
  );
}

test("answers are messages with status and artifact, which no model reads", async () => {
  const calls = [["find", { query: "tea" }], ["double", { number: "4" }], ["double", { number: -1 }], ["double", {}], ["recall", { key: "key" }]];
  await withAgent([calls], async (agent, heard) => {
    const result = await agent.invoke(ask, inThread());

    const answers = readAnswers(result);
    assert.deepEqual(answers.map((it) => [it.content, it.status]).slice(0, 3), [
      ["tea for Ada", "success"],
      ["8", "success"],
      ["Not below zero.", "error"],
    ]);
    assert.deepEqual([answers[3].status, answers[4].content], ["error", "of the state"]);
    assert.deepEqual(answers[0].artifact, { rows: ["tea"] });
    assert.doesNotMatch(JSON.stringify(heard.at(-1).messages), /rows/);
    assert.equal(result.messages.at(-1).content, "Done.");
  }, { state: { key: "of the state" }, context: () => ({ user: "Ada" }) });
});

test("a tool reads the state of the graph, and changes it", async () => {
  const stateSchema = z.object({ key: z.string(), seat: z.string().optional(), loop: z.any().optional(), large: z.any().optional() });
  const loop = {};
  loop.loop = loop;
  await withAgent([[["recall", { key: "key" }], ["recall", { key: "large" }]], [["book", { seat: "7A" }]], [["recall", { key: "seat" }]]], async (agent) => {
    const result = await agent.invoke({ ...ask, key: "of the graph", loop, large: 2n ** 60n }, inThread());

    assert.deepEqual(readAnswers(result).map((it) => it.content), ["of the graph", `${2n ** 60n}`, "Seat 7A is yours.", "7A"]);
    assert.equal(result.seat, "7A");
  }, {}, { stateSchema, checkpointer: undefined });
});

test("a change of what the graph does not keep ends no run", async () => {
  await withAgent([[["book", { seat: "7A" }]]], async (agent) => {
    const [answer] = readAnswers(await agent.invoke(ask, inThread()));

    assert.deepEqual([answer.content, answer.status], ["Seat 7A is yours.", "success"]);
  });
});

test("a call without an id gives its content, and fails by an error", async () => {
  const double = (await loadTools(server)).find((it) => it.name === "double");

  assert.equal(await double.invoke({ number: 4 }), "8");
  await assert.rejects(double.invoke({ number: -1 }), (error) => error instanceof ToolCallFailed && error.kind === "tool_error");
});

for (const [resume, expected, status] of [
  [true, "Refunded 100 for order 7.", "success"],
  [{ decision: "approve", args: { order: 7, amount: 5 } }, "Refunded 5 for order 7.", "success"],
  [{ decision: "reject", reason: "Too late." }, "Too late.", "error"],
]) {
  test(`a person's decision resumes the graph: ${JSON.stringify(resume)}`, async () => {
    await withAgent([[["refund", { order: 7 }]]], async (agent) => {
      const thread = inThread();
      const { __interrupt__: [asked] } = await agent.invoke(ask, thread);
      const [answer] = readAnswers(await agent.invoke(new Command({ resume }), thread));

      assert.deepEqual([asked.value.type, asked.value.tool_call.name, asked.value.tool_call.args.order], ["approval", "refund", 7]);
      assert.deepEqual([answer.content, answer.status], [expected, status]);
    });
  });
}

test("a tool that asks twice gets each answer for its own question", async () => {
  await withAgent([[["empty", { folder: "tmp" }]]], async (agent) => {
    const thread = inThread();
    const asked = [(await agent.invoke(ask, thread)).__interrupt__[0].value.description];
    asked.push((await agent.invoke(new Command({ resume: true }), thread)).__interrupt__[0].value.description);
    const [answer] = readAnswers(await agent.invoke(new Command({ resume: true }), thread));

    assert.deepEqual([asked, answer.content], [["Read it?", "Delete it?"], "tmp is empty."]);
  });
});

test("where the program may not decide the graph is interrupted again", async () => {
  let isAllowed = false;
  const problem = { type: "urn:sidecall:problem:missing-scope", title: "", status: 403, detail: "You may not decide." };
  const ours = new Sidecall(undefined, {
    fetch: async (url, init) => {
      const decides = init.method === "POST" && String(url).includes("/approvals/") && !isAllowed;
      return decides ? new Response(JSON.stringify(problem), { status: 403 }) : fetch(url, init);
    },
  });
  const tools = await loadTools(ours);
  await withModel("chat", [[["refund", { order: 8 }]]], async (url) => {
    const agent = createAgent({ model: connect(url), tools, checkpointer: new MemorySaver() });
    const thread = inThread();
    await agent.invoke(ask, thread);
    const { __interrupt__: [again] } = await agent.invoke(new Command({ resume: true }), thread);
    isAllowed = true;
    const [answer] = readAnswers(await agent.invoke(new Command({ resume: true }), thread));

    assert.deepEqual([again.value.refusal, answer.content], ["You may not decide.", "Refunded 100 for order 8."]);
  });
});

test("a call that a guardrail refuses is thrown, once, and the agent says so to its model", async () => {
  await withAgent([[["repeat", { text: "an order" }]]], async (agent) => {
    const [answer] = readAnswers(await agent.invoke(ask, inThread()));

    assert.equal(answer.status, "error");
    assert.match(answer.content, /guardrail-tripped/);
  });
});

test("without a checkpointer the model reads that a person has to decide", async () => {
  const tools = await loadTools(server);
  await withModel("chat", [[["refund", { order: 9 }]]], async (url) => {
    const [answer] = readAnswers(await createAgent({ model: connect(url), tools }).invoke(ask));

    assert.equal(answer.status, "error");
    assert.match(answer.content, /A person has to decide about: refund/);
    await server.approvals.reject(answer.response_metadata.approval_id);
  });
});

test("progress comes with the stream of the mode `custom`", async () => {
  await withAgent([[["write", { text: "one two" }]]], async (agent) => {
    const told = [];
    for await (const part of await agent.stream(ask, { ...inThread(), streamMode: "custom" })) told.push(part);

    const [{ tool_call_id: id, ...progress }] = told;
    assert.equal(typeof id, "string");
    assert.deepEqual([told.length, progress], [1, { type: "progress", done: 1, total: 2, message: "begun", tool: "write" }]);
  });
});

test("an abort ends the call", async () => {
  await withAgent([[["sleep", { seconds: 60 }]]], async (agent) => {
    await assert.rejects(agent.invoke(ask, { ...inThread(), signal: AbortSignal.timeout(1500) }), /abort|timeout/i);
  });
});
