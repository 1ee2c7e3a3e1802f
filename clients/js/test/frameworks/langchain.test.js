// An agent of LangChain has the server's tools over MCP, or by a function around a call.

import assert from "node:assert/strict";
import test from "node:test";

import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { Sidecall } from "sidecall";

import { withModel } from "./models.js";

const server = new Sidecall();
const connect = (url) => new ChatOpenAI({ model: "m", apiKey: "none", maxRetries: 0, configuration: { baseURL: `${url}/v1` } });
const ask = { messages: [{ role: "user", content: "Please." }] };
const readAnswers = (messages) => messages.filter((it) => ToolMessage.isInstance(it));

test("over MCP", async () => {
  const client = new MultiServerMCPClient({ sidecall: { url: `${process.env.SIDECALL_URL}/mcp` } });
  try {
    const tools = await client.getTools();
    const steps = [[["double", { number: 4 }], ["find", { query: "tea" }]], [["paint"]]];
    await withModel("chat", steps, async (url, heard) => {
      const { messages } = await createAgent({ model: connect(url), tools }).invoke(ask);

      const said = heard.at(-1).messages.filter((it) => it.role === "tool").map((it) => JSON.stringify(it.content));
      assert.equal(messages.at(-1).content, "Done.");
      assert.match(said[0], /8/);
      assert.match(said[1], /tea for nobody/);
      assert.match(JSON.stringify(readAnswers(messages)[2].content), /iVBORw0KGgo=/);
    });
  } finally {
    await client.close();
  }
});

test("by functions around calls, whose answers are messages with artifacts", async () => {
  const tools = (await server.tools("mcp")).map(({ name, description, inputSchema }) =>
    tool(
      async (args, { toolCall }) => {
        const answer = await server.call({ name, args, id: toolCall.id }, undefined, { state: { key: "of the state" } });
        return new ToolMessage(answer);
      },
      { name, description, schema: inputSchema },
    ),
  );
  const steps = [[["find", { query: "tea" }], ["recall", { key: "key" }], ["double", { number: -1 }]]];
  await withModel("chat", steps, async (url) => {
    const { messages } = await createAgent({ model: connect(url), tools }).invoke(ask);

    const answers = readAnswers(messages);
    assert.deepEqual(answers.map((it) => [it.content, it.status]), [
      ["tea for nobody", "success"],
      ["of the state", "success"],
      ["Not below zero.", "error"],
    ]);
    assert.deepEqual(answers[0].artifact, { rows: ["tea"] });
  });
});
