// The loop that the README shows, with Anthropic's package, whole and as a stream.

import assert from "node:assert/strict";
import test from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { ApprovalNeeded, Sidecall } from "sidecall";

import { CALLS, EXPECTED, IMAGE, ROUNDED } from "./cases.js";
import { withModel } from "./models.js";

const server = new Sidecall();

const WAYS = {
  "whole": (anthropic, request) => anthropic.messages.create(request),
  "streamed": (anthropic, request) => anthropic.messages.create({ ...request, stream: true }),
  "by its helper": (anthropic, request) => anthropic.messages.stream(request),
};

/** Run the loop until the model calls no tool any more, and return the conversation. */
async function converse(way, url, options) {
  const anthropic = new Anthropic({ apiKey: "none", baseURL: url, maxRetries: 0 });
  const tools = await server.tools("anthropic");
  const messages = [{ role: "user", content: "Please." }];
  const request = { model: "m", max_tokens: 100, tools, messages };
  let more;
  while ((more = await server.run(await WAYS[way](anthropic, request), options)).length) messages.push(...more);
  return messages;
}

const readAnswers = (messages) =>
  messages.filter((it) => it.role === "user" && Array.isArray(it.content)).flatMap((it) => it.content);

for (const way of Object.keys(WAYS)) {
  test(`${way}: each answer is in the place of its call`, async () => {
    await withModel("anthropic", CALLS, async (url, heard) => {
      await converse(way, url, { state: { key: "of the state" } });

      const answers = readAnswers(heard.at(-1).messages);
      // What was parsed to a number by the package has lost its digits; as a stream, the text is ours to read.
      const last = way === "streamed" ? EXPECTED.at(-1) : answers.at(-1).content;
      assert.deepEqual(answers.map((it) => it.content), [...EXPECTED.slice(0, -1), last]);
      if (way !== "streamed") assert.match(last, ROUNDED);
      assert.deepEqual(answers.map((it) => it.is_error), [false, false, true, true, false, way !== "streamed"]);
    });
  });
}

test("an image is one", async () => {
  await withModel("anthropic", [[["paint"]]], async (url) => {
    const [{ content }] = readAnswers(await converse("whole", url));
    assert.deepEqual(content, [{ type: "image", source: { type: "base64", media_type: "image/png", data: IMAGE } }]);
  });
});

test("a call waits for a person, and the loop goes on when they have decided", async () => {
  await withModel("anthropic", [[["refund", { order: 7 }], ["double", { number: 4 }]]], async (url) => {
    const needed = await converse("by its helper", url).catch((error) => error);
    assert.ok(needed instanceof ApprovalNeeded);
    await server.approvals.reject(needed.approvals[0].id, "No.");
    const [, { content }] = await server.run(needed.turn);
    assert.deepEqual(content.map((it) => [it.content, it.is_error]), [["No.", true], ["8", false]]);
  });
});
