// An agent of Mastra takes what `aiTools` makes.

import assert from "node:assert/strict";
import test from "node:test";

import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { Sidecall } from "sidecall";

const server = new Sidecall();

/** Make a model of a version that asks for these tools, and is done then; with what it has heard. */
function script(version, ...steps) {
  const heard = [];
  const usage = version === "v2" ? { inputTokens: 1, outputTokens: 1 } : { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const say = ({ prompt }) => {
    heard.push(prompt);
    const calls = steps.shift();
    const content = Object.entries(calls ?? {}).map(([toolName, input]) => ({
      type: "tool-call",
      toolCallId: crypto.randomUUID(),
      toolName,
      input: JSON.stringify(input),
    }));
    const unified = calls ? "tool-calls" : "stop";
    const finishReason = version === "v2" ? unified : { unified, raw: undefined };
    return { content: calls ? content : [{ type: "text", text: "Done." }], finishReason, usage, warnings: [] };
  };
  const doStream = async (request) => {
    const { content, finishReason } = say(request);
    const text = [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Done." }, { type: "text-end", id: "1" }];
    const parts = content[0].type === "text" ? text : content;
    return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }]) };
  };
  const model = { specificationVersion: version, provider: "scripted", modelId: "scripted", supportedUrls: { "*/*": [/.*/] } };
  return [{ ...model, doGenerate: async (request) => say(request), doStream }, heard];
}

async function makeAgent(version, ...steps) {
  const [model, heard] = script(version, ...steps);
  const tools = await server.aiTools({ state: { key: "of the state" }, context: { user: "Ada" } });
  return [new Agent({ id: "a", name: "a", instructions: "Help.", model, tools }), heard];
}

function outputs(messages) {
  const parts = messages.filter((it) => it.role === "tool").flatMap((it) => it.content);
  return Object.fromEntries(parts.map((it) => [it.toolName, it.output]));
}

const IMAGES = {
  v2: { type: "media", data: "iVBORw0KGgo=", mediaType: "image/png" },
  v3: { type: "image-data", data: "iVBORw0KGgo=", mediaType: "image/png" },
};

for (const [version, image] of Object.entries(IMAGES)) {
  test(`texts, failures and images reach a model of ${version}`, async () => {
    const calls = { find: { query: "tea" }, recall: { key: "key" }, double: { number: -1 }, paint: {}, repeat_number: { number: 2 ** 60 } };
    const [agent, heard] = await makeAgent(version, calls);

    const result = await agent.generate("Please.", { maxSteps: 3 });

    const found = outputs(heard.at(-1));
    assert.equal(result.text, "Done.");
    assert.deepEqual(found.find, { type: "text", value: "tea for Ada" });
    assert.equal(found.recall.value, "of the state");
    assert.deepEqual(found.double, { type: "error-text", value: "Not below zero." });
    assert.match(found.repeat_number.value, /may have been rounded|2\*\*53/);
    assert.deepEqual(found.paint.value, [image]);
  });
}

test("the program has the whole answer", async () => {
  const [agent] = await makeAgent("v3", { find: { query: "tea" } });

  const result = await agent.generate("Please.", { maxSteps: 3 });

  assert.deepEqual(result.toolResults[0].payload.result.artifact, { rows: ["tea"] });
});

for (const [approved, expected] of [[true, "Refunded 100 for order 7."], [false, /not approved/i]]) {
  test(`a call that is ${approved ? "approved" : "declined"} by a person`, async () => {
    const [agent, heard] = await makeAgent("v3", { refund: { order: 7 } });
    new Mastra({ agents: { agent }, logger: false, storage: new InMemoryStore() });

    const { finishReason, runId, suspendPayload } = await agent.generate("Please.", { maxSteps: 3 });
    const decision = { runId, toolCallId: suspendPayload.toolCallId };
    await (approved ? agent.approveToolCallGenerate(decision) : agent.declineToolCallGenerate(decision));

    assert.equal(finishReason, "suspended");
    assert.match(outputs(heard.at(-1)).refund.value, new RegExp(expected));
  });
}
