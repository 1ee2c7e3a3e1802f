// The loop that the README shows, with OpenAI's package: Chat Completions and Responses, whole and as streams.

import assert from "node:assert/strict";
import test from "node:test";

import OpenAI from "openai";
import { ApprovalNeeded, Sidecall } from "sidecall";

import { CALLS, EXPECTED, IMAGE } from "./cases.js";
import { withModel } from "./models.js";

const server = new Sidecall();
const connect = (url) => new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, maxRetries: 0 });

const WAYS = {
  "chat": (openai, messages, tools) => openai.chat.completions.create({ model: "m", messages, tools }),
  "chat, streamed": (openai, messages, tools) => openai.chat.completions.create({ model: "m", messages, tools, stream: true }),
  "chat, by its helper": (openai, messages, tools) => openai.chat.completions.stream({ model: "m", messages, tools }),
  "responses": (openai, input, tools) => openai.responses.create({ model: "m", input, tools }),
  "responses, streamed": (openai, input, tools) => openai.responses.create({ model: "m", input, tools, stream: true }),
  "responses, by its helper": (openai, input, tools) => openai.responses.stream({ model: "m", input, tools }),
};

/** Run the loop until the model calls no tool any more, and return the conversation. */
async function converse(way, url, options) {
  const isChat = way.startsWith("chat");
  const openai = connect(url);
  const tools = await server.tools(isChat ? "openai" : "openai-responses");
  const messages = [{ role: "user", content: "Please." }];
  let more;
  while ((more = await server.run(await WAYS[way](openai, messages, tools), options)).length) messages.push(...more);
  return messages;
}

const readAnswers = (messages) =>
  messages
    .filter((it) => it.role === "tool" || it.type === "function_call_output")
    .map((it) => it.content ?? it.output);

for (const way of Object.keys(WAYS)) {
  test(`${way}: each answer is in the place of its call`, async () => {
    await withModel(way.startsWith("chat") ? "chat" : "responses", CALLS, async (url, heard) => {
      const messages = await converse(way, url, { state: { key: "of the state" } });

      assert.deepEqual(readAnswers(messages), EXPECTED);
      assert.deepEqual(readAnswers(heard.at(-1).messages ?? heard.at(-1).input), EXPECTED);
    });
  });
}

test("arguments of a model that are no JSON are told to it, and none are none", async () => {
  const steps = [[["double", '{"number": 4'], ["fail", ""]]];
  for (const way of Object.keys(WAYS)) {
    await withModel(way.startsWith("chat") ? "chat" : "responses", steps, async (url) => {
      const [broken, none] = readAnswers(await converse(way, url));
      assert.match(broken, /not valid JSON/);
      assert.equal(none, "No pencil.");
    });
  }
});

test("an image is a picture in Responses, and a text with its place in Chat Completions", async () => {
  await withModel("responses", [[["paint"]]], async (url) => {
    assert.deepEqual(readAnswers(await converse("responses", url)), [[{ type: "input_image", image_url: `data:image/png;base64,${IMAGE}` }]]);
  });
  await withModel("chat", [[["paint"]]], async (url) => {
    const [[{ type, text }]] = readAnswers(await converse("chat", url));
    assert.equal(type, "text");
    assert.match(text, /image/);
  });
});

test("a call waits for a person, and the loop goes on when they have decided", async () => {
  await withModel("chat", [[["refund", { order: 7 }], ["double", { number: 4 }]]], async (url) => {
    const needed = await converse("chat", url).catch((error) => error);
    assert.ok(needed instanceof ApprovalNeeded);
    await server.approvals.approve(needed.approvals[0].id);
    assert.deepEqual(readAnswers(await server.run(needed.turn)), ["Refunded 100 for order 7.", "8"]);
  });
});
