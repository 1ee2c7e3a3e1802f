// Version 6 of the Vercel AI SDK, the newest that runs under Node.js 20, has other forms of images and files.

import assert from "node:assert/strict";
import test from "node:test";

import { convertToModelMessages, generateText, stepCountIs } from "ai-6";
import { Sidecall } from "sidecall";

const server = new Sidecall();

/** Make a model that asks for these tools, step by step, and is done then; with what it has heard. */
function script(...steps) {
  const heard = [];
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const doGenerate = async ({ prompt }) => {
    heard.push(prompt);
    const calls = steps.shift();
    const content = Object.entries(calls ?? {}).map(([toolName, input]) => ({
      type: "tool-call",
      toolCallId: crypto.randomUUID(),
      toolName,
      input: JSON.stringify(input),
    }));
    const finishReason = { unified: calls ? "tool-calls" : "stop", raw: undefined };
    return { content: calls ? content : [{ type: "text", text: "Done." }], finishReason, usage, warnings: [] };
  };
  return [{ specificationVersion: "v3", provider: "scripted", modelId: "scripted", supportedUrls: { "*/*": [/.*/] }, doGenerate }, heard];
}

function outputs(messages) {
  return messages.filter((it) => it.role === "tool").flatMap((it) => it.content).map((it) => it.output);
}

test("images and files reach the model", async () => {
  const [model, heard] = script({ draw: {}, paint: {} });

  const result = await generateText({ model, tools: await server.aiTools(), prompt: "Draw.", stopWhen: stepCountIs(3) });

  const [drawn, painted] = outputs(heard.at(-1));
  const strip = (parts) => parts.map((part) => Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined)));
  assert.equal(result.text, "Done.");
  assert.deepEqual(strip(drawn.value), [
    { type: "text", text: "Drawn." },
    { type: "image-data", data: "+vv8/f7/", mediaType: "image/png" },
    { type: "image-url", url: "https://x.test/a.png", mediaType: "image/png" },
    { type: "file-data", data: "JVBERi0xLjc=", mediaType: "application/pdf", filename: "a.pdf" },
    { type: "file-data", data: "aGVsbG8=", mediaType: "text/plain" },
    { type: "file-url", url: "https://x.test/a.pdf", mediaType: "application/octet-stream" },
  ]);
  assert.deepEqual(strip(painted.value), [{ type: "image-data", data: "iVBORw0KGgo=", mediaType: "image/png" }]);
});

test("texts, failures, artifacts, state and rounded numbers come across", async () => {
  const tools = await server.aiTools({ state: { key: "of the state" }, context: { user: "Ada" } });
  const calls = { find: { query: "tea" }, recall: { key: "key" }, double: { number: -1 }, repeat_number: { number: 2 ** 60 } };
  const [model, heard] = script(calls);

  const result = await generateText({ model, tools, prompt: "Find.", stopWhen: stepCountIs(3) });

  const [find, recall, wrong, rounded] = outputs(heard.at(-1));
  assert.deepEqual(find, { type: "text", value: "tea for Ada" });
  assert.deepEqual(recall, { type: "text", value: "of the state" });
  assert.deepEqual(wrong, { type: "error-text", value: "Not below zero." });
  assert.match(rounded.value, /may have been rounded/);
  assert.deepEqual(result.steps[0].toolResults[0].output.artifact, { rows: ["tea"] });
});

for (const [approved, expected] of [
  [true, { type: "text", value: "Refunded 100 for order 7." }],
  [false, { type: "execution-denied", reason: "No." }],
]) {
  test(`a call that is ${approved ? "approved" : "rejected"} by a person`, async () => {
    const tools = await server.aiTools();
    const [model, heard] = script({ refund: { order: 7 } });

    const stopped = await generateText({ model, tools, prompt: "Refund." });
    const { approvalId } = stopped.content.find((it) => it.type === "tool-approval-request");
    const decision = { type: "tool-approval-response", approvalId, approved, reason: "No." };
    const messages = [{ role: "user", content: "Refund." }, ...stopped.response.messages, { role: "tool", content: [decision] }];
    await generateText({ model, tools, messages });

    assert.deepEqual(outputs(heard.at(-1)), [expected]);
  });
}

test("a conversation that was kept has its images before any tool has run", async () => {
  const tools = await server.aiTools({ filters: { names: ["paint"] } });
  const output = await server.call("paint");
  const parts = [{ type: "dynamic-tool", toolName: "paint", toolCallId: "a", state: "output-available", input: {}, output }];

  const messages = await convertToModelMessages([{ role: "assistant", parts }], { tools });

  assert.deepEqual(outputs(messages)[0].value, [{ type: "image-data", data: "iVBORw0KGgo=", mediaType: "image/png" }]);
});
