// An agent of the OpenAI Agents SDK has the server's tools over MCP, or by a function around a call.

import assert from "node:assert/strict";
import test from "node:test";

import { Agent, MCPServerStreamableHttp, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { Sidecall } from "sidecall";

import { withModel } from "./models.js";

const server = new Sidecall();
setTracingDisabled(true);

async function runAgent(url, form, parts) {
  const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL: `${url}/v1`, useResponses: form === "responses" });
  const agent = new Agent({ name: "assistant", instructions: "Help.", model: "m", ...parts });
  return new Runner({ modelProvider }).run(agent, "Please.");
}

const readAnswers = ({ messages, input }) =>
  (messages ?? input).filter((it) => it.role === "tool" || it.type === "function_call_output").map((it) => it.content ?? it.output);

const readText = (said) => {
  const blocks = typeof said === "string" ? said : said.map((it) => it.text).join("");
  return blocks.startsWith("{") ? JSON.parse(blocks).text : blocks;
};

for (const form of ["responses", "chat"]) {
  test(`over MCP, with ${form}`, async () => {
    const mcp = new MCPServerStreamableHttp({ name: "sidecall", url: `${process.env.SIDECALL_URL}/mcp` });
    await mcp.connect();
    try {
      const steps = [[["double", { number: 4 }], ["find", { query: "tea" }]], [["double", { number: -1 }]]];
      await withModel(form, steps, async (url, heard) => {
        const result = await runAgent(url, form, { mcpServers: [mcp] });

        assert.equal(result.finalOutput, "Done.");
        assert.deepEqual(readAnswers(heard.at(-1)).map(readText), ["8", "tea for nobody", "Not below zero."]);
      });
    } finally {
      await mcp.close();
    }
  });
}

test("by functions around calls, which bring state along", async () => {
  const tools = (await server.tools("mcp")).map(({ name, description, inputSchema }) =>
    tool({
      name,
      description,
      parameters: { additionalProperties: true, required: [], ...inputSchema },
      strict: false,
      execute: async (args, { context }, details) =>
        (await server.call({ name, args, id: details?.toolCall?.callId }, undefined, { state: context })).content,
    }),
  );
  await withModel("chat", [[["recall", { key: "key" }], ["double", { number: -1 }]]], async (url, heard) => {
    const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL: `${url}/v1`, useResponses: false });
    const agent = new Agent({ name: "assistant", instructions: "Help.", model: "m", tools });
    await new Runner({ modelProvider }).run(agent, "Please.", { context: { key: "of the state" } });

    assert.deepEqual(readAnswers(heard.at(-1)).map(readText), ["of the state", "Not below zero."]);
  });
});
