// An agent of Mastra has the server's tools over MCP; those of `aiTools` are tried beside the AI SDK.

import assert from "node:assert/strict";
import test from "node:test";

import { Agent } from "@mastra/core/agent";
import { MCPClient } from "@mastra/mcp";

import { withModel } from "./models.js";

test("over MCP", async () => {
  const client = new MCPClient({ servers: { desk: { url: new URL(`${process.env.SIDECALL_URL}/mcp`) } } });
  try {
    const tools = await client.listTools();
    const steps = [[["desk_double", { number: 4 }], ["desk_find", { query: "tea" }]], [["desk_double", { number: -1 }]]];
    await withModel("chat", steps, async (url, heard) => {
      const model = { id: "scripted/m", url: `${url}/v1`, apiKey: "none" };
      const agent = new Agent({ id: "a", name: "a", instructions: "Help.", model, tools });

      const result = await agent.generate("Please.", { maxSteps: 4 });

      const said = heard.at(-1).messages.filter((it) => it.role === "tool").map((it) => JSON.stringify(it.content));
      assert.equal(result.text, "Done.");
      assert.match(said[0], /8/);
      assert.match(said[1], /tea for nobody/);
      assert.match(said[2], /Not below zero\./);
    });
  } finally {
    await client.disconnect();
  }
});
