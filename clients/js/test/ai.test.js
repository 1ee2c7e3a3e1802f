// An agent of the Vercel AI SDK works with the tools of a server as with its own.

import assert from "node:assert/strict";
import test from "node:test";

import { generateText, isStepCount, streamText } from "ai";
import { Sidecall } from "sidecall";

const server = new Sidecall();
const prompt = "Please.";

/** Make a model that asks for these tools, step by step, and is done then. */
function script(...steps) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const heard = [];
  const say = ({ prompt: messages }) => {
    heard.push(messages);
    const calls = steps.shift();
    const content = calls
      ? Object.entries(calls).map(([toolName, input]) => ({
          type: "tool-call",
          toolCallId: crypto.randomUUID(),
          toolName,
          input: JSON.stringify(input),
        }))
      : [{ type: "text", text: "Done." }];
    return { content, finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined }, usage, warnings: [] };
  };
  const model = {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: { "*/*": [/.*/] },
    doGenerate: async (request) => say(request),
    doStream: async (request) => {
      const { content, ...end } = say(request);
      const text = [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "Done." },
        { type: "text-end", id: "1" },
      ];
      const parts = content[0].type === "text" ? text : content;
      return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", ...end }]) };
    },
  };
  return [model, heard];
}

/** Return what the model has heard from tools, by the names of the tools. */
function outputs(messages) {
  const parts = messages.filter((it) => it.role === "tool").flatMap((it) => it.content);
  return parts.filter((it) => it.type === "tool-result").map((it) => [it.toolName, it.output]);
}

test("state, artifacts, images and failures that are repaired come across", async () => {
  const tools = await server.aiTools({ state: { key: "of the state" }, context: () => ({ user: "Ada" }) });
  const calls = { find: { query: "tea" }, recall: { key: "key" }, double: { number: "four" }, draw: {} };
  const [model, heard] = script(calls, { double: { number: 4 } });

  const result = await generateText({ model, tools, prompt, stopWhen: isStepCount(5) });

  const [find, recall, wrong, draw, right] = outputs(heard.at(-1));
  assert.deepEqual(find, ["find", { type: "text", value: "tea for Ada" }]);
  assert.equal(recall[1].value, "of the state");
  assert.equal(wrong[1].type, "error-text");
  assert.match(wrong[1].value, /number/);
  assert.equal(draw[1].type, "content");
  assert.equal(draw[1].value[0].text, "Drawn.");
  assert.equal(right[1].value, "8");
  assert.equal(result.text, "Done.");
  assert.deepEqual(result.steps[0].toolResults[0].output.artifact, { rows: ["tea"] });
});

for (const [approved, expected] of [
  [true, { type: "text", value: "Refunded 100 for order 7." }],
  [false, { type: "execution-denied", reason: "Ask for a receipt first." }],
]) {
  test(`a call that is ${approved ? "approved" : "rejected"} by a person`, async () => {
    const tools = await server.aiTools({ context: { user: "Ada" } });
    const [model, heard] = script({ refund: { order: 7 } });

    const stopped = await generateText({ model, tools, prompt });
    const { approvalId, toolCall } = stopped.content.find((it) => it.type === "tool-approval-request");
    const decision = { type: "tool-approval-response", approvalId, approved, reason: "Ask for a receipt first." };
    const messages = [
      { role: "user", content: prompt },
      ...stopped.response.messages,
      { role: "tool", content: [decision] },
    ];
    const result = await generateText({ model, tools, messages });

    assert.deepEqual(outputs(heard.at(-1)), [["refund", expected]]);
    assert.equal(result.text, "Done.");
    assert.ok(!(await server.approvals.list()).some((it) => it.tool_call.id === toolCall.toolCallId));
  });
}

test("a person may be asked at once", async () => {
  const [tool] = [(await server.aiTools({ ask: () => true })).pay_out];

  assert.equal((await tool.execute({ amount: 5 }, { toolCallId: "a", messages: [] })).content, "Paid 5.");
});

/** Stop for an approval of `send`, approve it, and go on; return what the model has heard. */
async function approveSending(tools) {
  const [model, heard] = script({ send: { amount: 500 } });
  const stopped = await generateText({ model, tools, prompt });
  const { approvalId, toolCall } = stopped.content.find((it) => it.type === "tool-approval-request");
  const decision = { type: "tool-approval-response", approvalId, approved: true };
  const messages = [{ role: "user", content: prompt }, ...stopped.response.messages, { role: "tool", content: [decision] }];
  await generateText({ model, tools, messages });
  const waiting = (await server.approvals.list()).filter((it) => it.tool_call.id === toolCall.toolCallId);
  return [outputs(heard.at(-1))[0][1], waiting];
}

test("an approval answers no question that a tool asks in the middle of its work", async () => {
  const [output, waiting] = await approveSending(await server.aiTools());

  assert.deepEqual([output.type, output.value], ["error-text", "ApprovalNeeded: A person has to decide about: send"]);
  assert.deepEqual(waiting.map((it) => it.description), ["Pay the fee?"]);
});

test("what a tool asks in the middle of its work goes to whom `ask` asks", async () => {
  const asked = [];
  const ask = (approval) => asked.push(approval.description) > 1;
  const [output, waiting] = await approveSending(await server.aiTools({ ask }));

  assert.deepEqual(asked, ["Pay the fee?"]);
  assert.deepEqual([output.value, waiting], ["Sent 500: False.", []]);
});

test("an id that is used again is an error that the model reads", async () => {
  const { charge } = await server.aiTools();
  const about = { toolCallId: crypto.randomUUID(), messages: [] };
  const call = { type: "tool_call", name: "charge", args: { amount: 2 }, id: about.toolCallId };

  const first = await charge.execute({ amount: 1 }, about);
  const second = await charge.execute({ amount: 2 }, about);
  const [batched] = await server.batch([call]);

  assert.equal(first.content, "Charged 1.");
  assert.deepEqual([second.status, second.content], ["error", batched.content]);
  assert.equal(second.response_metadata.error.kind, batched.response_metadata.error.kind);
});

test("an approval of another call is none", async () => {
  const { refund } = await server.aiTools();
  const messages = [
    { role: "assistant", content: [{ type: "tool-approval-request", approvalId: "1", toolCallId: "other" }] },
    { role: "tool", content: [{ type: "tool-approval-response", approvalId: "1", approved: true }] },
  ];

  await assert.rejects(refund.execute({ order: 7 }, { toolCallId: "a", messages }), { name: "ApprovalNeeded" });
});

test("streams run tools too", async () => {
  const [model] = script({ double: { number: 4 } });

  const result = streamText({ model, tools: await server.aiTools(), prompt, stopWhen: isStepCount(3) });

  assert.equal(await result.text, "Done.");
  assert.equal((await result.steps)[0].toolResults[0].output.content, "8");
});

test("an option that would do nothing is refused", async () => {
  await assert.rejects(server.aiTools({ stat: 1 }), TypeError);
});
