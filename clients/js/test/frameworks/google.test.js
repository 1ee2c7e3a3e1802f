// The loop that the README shows, with Google's package, whole and as a stream; and its calls by itself over MCP.

import assert from "node:assert/strict";
import test from "node:test";

import { GoogleGenAI, mcpToTool } from "@google/genai";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ApprovalNeeded, Sidecall } from "sidecall";

import { CALLS, EXPECTED, IMAGE, ROUNDED } from "./cases.js";
import { withModel } from "./models.js";

const server = new Sidecall();
const connect = (url) => new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: url } });

/** Run the loop until the model calls no tool any more, and return the conversation. */
async function converse(way, url, options) {
  const { models } = connect(url);
  const tools = await server.tools("gemini");
  const contents = [{ role: "user", parts: [{ text: "Please." }] }];
  const ask = async () => models[way]({ model: "m", contents, config: { tools } });
  let more;
  while ((more = await server.run(await ask(), options)).length) contents.push(...more);
  return contents;
}

const readAnswers = (contents) => contents.flatMap((it) => it.parts).flatMap((it) => it.functionResponse ?? []);

for (const way of ["generateContent", "generateContentStream"]) {
  test(`${way}: each answer is in the place of its call`, async () => {
    await withModel("gemini", CALLS, async (url, heard) => {
      await converse(way, url, { state: { key: "of the state" } });

      const answers = readAnswers(heard.at(-1).contents).map((it) => it.response);
      const [double, find, wrong, fail, recall] = EXPECTED;
      const expected = [{ output: double }, { output: find }, { error: wrong }, { error: fail }, { output: recall }];
      assert.deepEqual(answers.slice(0, -1), expected);
      assert.match(answers.at(-1).error, ROUNDED);
      // What belongs to the model's thoughts goes back with them.
      assert.equal(heard.at(-1).contents[1].parts[0].thoughtSignature, "AAEC");
    });
  });
}

test("an image is one", async () => {
  await withModel("gemini", [[["paint"]]], async (url) => {
    const [{ parts }] = readAnswers(await converse("generateContent", url));
    assert.deepEqual(parts.map((it) => it.inlineData), [{ mimeType: "image/png", data: IMAGE }]);
  });
});

test("a call waits for a person", async () => {
  await withModel("gemini", [[["refund", { order: 7 }]]], async (url) => {
    const needed = await converse("generateContentStream", url).catch((error) => error);
    assert.ok(needed instanceof ApprovalNeeded);
    await server.approvals.reject(needed.approvals[0].id, "No.");
    assert.deepEqual(readAnswers(await server.run(needed.turn))[0].response, { error: "No." });
  });
});

test("over MCP the package calls the tools by itself", async () => {
  const client = new Client({ name: "google", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${process.env.SIDECALL_URL}/mcp`)));
  try {
    await withModel("gemini", [[["double", { number: 4 }]], [["fail"]]], async (url, heard) => {
      const config = { tools: [mcpToTool(client)] };
      const answer = await connect(url).models.generateContent({ model: "m", contents: "Please.", config });

      const [double, fail] = readAnswers(heard.at(-1).contents).map((it) => JSON.stringify(it.response));
      assert.equal(answer.text, "Done.");
      assert.match(double, /"text":"8"/);
      assert.match(fail, /No pencil\./);
    });
  } finally {
    await client.close();
  }
});
