// An agent of Mastra has the server's tools by one line.

import assert from "node:assert/strict";
import test from "node:test";

import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { Sidecall } from "sidecall";
import { loadTools } from "sidecall/mastra";

const server = new Sidecall();
const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** Make a model that asks for these tools, and is done then; with what it has heard. */
function script(...steps) {
  const heard = [];
  const say = ({ prompt }) => {
    heard.push(prompt);
    const calls = steps.shift();
    const content = (calls ?? []).map(([toolName, input]) => ({
      ...{ type: "tool-call", toolCallId: crypto.randomUUID(), toolName, input: JSON.stringify(input) },
    }));
    const text = [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Done." }, { type: "text-end", id: "1" }];
    const finishReason = { unified: calls ? "tool-calls" : "stop", raw: undefined };
    return { parts: calls ? content : text, content: calls ? content : [{ type: "text", text: "Done." }], finishReason };
  };
  const doStream = async (request) => {
    const { parts, finishReason } = say(request);
    return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage: USAGE }]) };
  };
  const doGenerate = async (request) => ({ ...say(request), usage: USAGE, warnings: [] });
  return [{ specificationVersion: "v3", provider: "scripted", modelId: "scripted", supportedUrls: { "*/*": [/.*/] }, doGenerate, doStream }, heard];
}

async function makeAgent(steps, options = {}, from = server) {
  const [model, heard] = script(...steps);
  const agent = new Agent({ id: "a", name: "a", instructions: "Help.", model, tools: await loadTools(from, options) });
  new Mastra({ agents: { agent }, logger: false, storage: new InMemoryStore() });
  return [agent, heard];
}

function outputs(messages) {
  return messages.filter((it) => it.role === "tool").flatMap((it) => it.content).map((it) => it.output);
}

test("the model reads contents, the program has artifacts, and a failure is an error", async () => {
  const options = { state: { key: "of the state" }, context: () => ({ user: "Ada" }) };
  const calls = [["find", { query: "tea" }], ["recall", { key: "key" }], ["double", { number: "4" }], ["double", { number: -1 }], ["paint", {}]];
  const [agent, heard] = await makeAgent([calls], options);

  const result = await agent.generate("Please.", { maxSteps: 3 });

  const [find, recall, double, failed, paint] = outputs(heard.at(-1));
  assert.equal(result.text, "Done.");
  assert.deepEqual([find, recall.value, double.value], [{ type: "text", value: "tea for Ada" }, "of the state", "8"]);
  assert.deepEqual(paint.value.at(-1), { type: "image-data", data: "iVBORw0KGgo=", mediaType: "image/png" });
  assert.doesNotMatch(JSON.stringify(heard.at(-1)), /rows/);
  const found = result.toolResults.find((it) => it.payload.toolName === "find");
  assert.deepEqual(found.payload.result.artifact, { rows: ["tea"] });
  assert.deepEqual(failed, { type: "error-text", value: "Not below zero." });
});

test("a failure is a part `tool-error`", async () => {
  const [agent] = await makeAgent([[["double", { number: -1 }]]]);
  const failures = [];

  const { fullStream } = await agent.stream("Please.", { maxSteps: 3 });
  for await (const part of fullStream) if (part.type === "tool-error") failures.push(part.payload.error);

  assert.deepEqual(failures.map(({ message, cause }) => [message, cause.name, cause.kind]), [["Not below zero.", "ToolCallFailed", "tool_error"]]);
});

for (const [resumeData, expected] of [
  [{ approved: true }, /Refunded 100 for order 7\./],
  [{ decision: "approve", args: { order: 7, amount: 5 } }, /Refunded 5 for order 7\./],
  [{ decision: "reject", reason: "Too late." }, /Too late\./],
]) {
  test(`a suspended call is resumed by a decision: ${JSON.stringify(resumeData)}`, async () => {
    const [agent, heard] = await makeAgent([[["refund", { order: 7 }]]]);

    const { finishReason, runId, suspendPayload } = await agent.generate("Please.", { maxSteps: 3 });
    await agent.resumeGenerate(resumeData, { runId, toolCallId: suspendPayload.toolCallId });

    assert.equal(finishReason, "suspended");
    assert.equal(suspendPayload.suspendPayload?.tool_call?.name ?? suspendPayload.payload?.tool_call?.name, "refund", JSON.stringify(suspendPayload));
    assert.match(JSON.stringify(outputs(heard.at(-1))), expected);
  });
}

test("where the program may not decide the run is suspended again", async () => {
  let isAllowed = false;
  const problem = { type: "urn:sidecall:problem:missing-scope", title: "", status: 403, detail: "You may not decide." };
  const ours = new Sidecall(undefined, {
    fetch: async (url, init) => {
      const decides = init.method === "POST" && String(url).includes("/approvals/") && !isAllowed;
      return decides ? new Response(JSON.stringify(problem), { status: 403 }) : fetch(url, init);
    },
  });
  const [agent, heard] = await makeAgent([[["refund", { order: 8 }]]], {}, ours);
  const { runId, suspendPayload } = await agent.generate("Please.", { maxSteps: 3 });
  const again = await agent.resumeGenerate({ approved: true }, { runId, toolCallId: suspendPayload.toolCallId });
  isAllowed = true;
  await agent.resumeGenerate({ approved: true }, { runId, toolCallId: again.suspendPayload.toolCallId });

  assert.match(JSON.stringify(again.suspendPayload), /You may not decide\./);
  assert.match(JSON.stringify(outputs(heard.at(-1))), /Refunded 100 for order 8\./);
});

test("a tool that asks twice suspends twice", async () => {
  const [agent, heard] = await makeAgent([[["empty", { folder: "tmp" }]]]);

  const first = await agent.generate("Please.", { maxSteps: 3 });
  const second = await agent.resumeGenerate({ approved: true }, { runId: first.runId, toolCallId: first.suspendPayload.toolCallId });
  assert.equal(second.finishReason, "suspended");
  await agent.resumeGenerate({ approved: true }, { runId: first.runId, toolCallId: second.suspendPayload.toolCallId });

  assert.match(JSON.stringify(outputs(heard.at(-1))), /tmp is empty\./);
});

test("progress is a part of the stream", async () => {
  const [agent] = await makeAgent([[["write", { text: "one two" }]]]);
  const told = [];

  const { fullStream } = await agent.stream("Please.", { maxSteps: 3 });
  for await (const part of fullStream) if (part.type === "data-sidecall-progress") told.push(part.data);

  assert.deepEqual(told.map(({ done, total, message, tool }) => [done, total, message, tool]), [[1, 2, "begun", "write"]]);
});

test("an abort ends the call", async () => {
  const [agent] = await makeAgent([[["sleep", { seconds: 60 }]]]);
  const begun = performance.now();

  await agent.generate("Please.", { maxSteps: 3, abortSignal: AbortSignal.timeout(1500) }).catch(() => undefined);

  assert.ok(performance.now() - begun < 30_000);
});
