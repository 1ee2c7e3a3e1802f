// Genkit has the server's tools over MCP, or by a function around a call.

import assert from "node:assert/strict";
import test from "node:test";

import { openAICompatible } from "@genkit-ai/compat-oai";
import { createMcpHost } from "@genkit-ai/mcp";
import { genkit } from "genkit";
import { Sidecall } from "sidecall";

import { withModel } from "./models.js";

const server = new Sidecall();

function start(url) {
  const ai = genkit({ plugins: [openAICompatible({ name: "scripted", apiKey: "none", baseURL: `${url}/v1` })] });
  return [ai, (tools) => ai.generate({ model: "scripted/m", prompt: "Please.", tools })];
}

// They come in the order in which the tools have ended.
const readAnswers = (body) => body.messages.filter((it) => it.role === "tool").map((it) => it.content).toSorted();

test("over MCP", async () => {
  const host = createMcpHost({ name: "hosts", mcpServers: { desk: { url: `${process.env.SIDECALL_URL}/mcp` } } });
  try {
    const steps = [[["double", { number: 4 }], ["find", { query: "tea" }], ["double", { number: -1 }]]];
    await withModel("chat", steps, async (url, heard) => {
      const [ai, ask] = start(url);
      const { text } = await ask(await host.getActiveTools(ai));

      assert.equal(text, "Done.");
      // It reads the structured answer where there is one.
      assert.deepEqual(readAnswers(heard.at(-1)), ["tea for nobody", '{"error":"Not below zero."}', '{"result":8}']);
    });
  } finally {
    await host.close();
  }
});

test("by functions around calls", async () => {
  await withModel("chat", [[["recall", { key: "key" }], ["double", { number: -1 }], ["find", { query: "tea" }]]], async (url, heard) => {
    const [ai, ask] = start(url);
    const tools = (await server.tools("mcp")).map(({ name, description, inputSchema: inputJsonSchema }) =>
      ai.dynamicTool({ name, description, inputJsonSchema }, async (args) =>
        (await server.call(name, args, { state: { key: "of the state" } })).content,
      ),
    );
    const { text } = await ask(tools);

    assert.equal(text, "Done.");
    assert.deepEqual(readAnswers(heard.at(-1)), ["Not below zero.", "of the state", "tea for nobody"]);
  });
});
