#!/usr/bin/env bash
# Genkit's plugin for servers that speak OpenAI's API sends tools without their descriptions.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts genkit@1.42.0 @genkit-ai/compat-oai@1.42.0 >/dev/null 2>&1
cat >ask.mjs <<'JS'
import { createServer } from "node:http";
import { openAICompatible } from "@genkit-ai/compat-oai";
import { genkit, z } from "genkit";

const message = { role: "assistant", content: "ok" };
const answer = { id: "1", object: "chat.completion", created: 0, model: "m", choices: [{ index: 0, finish_reason: "stop", message }] };
const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const tool = JSON.parse(text).tools[0].function;
  console.log("genkit 1.42.0 sends:", JSON.stringify(tool));
  process.exitCode = tool.name === "weather" && tool.description === undefined ? 0 : 1;
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
});
server.listen(0, "127.0.0.1", async () => {
  const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
  const ai = genkit({ plugins: [openAICompatible({ name: "local", apiKey: "none", baseURL })] });
  const inputSchema = z.object({ city: z.string().describe("Its name.") });
  const weather = ai.defineTool({ name: "weather", description: "Tell the weather of a city.", inputSchema }, async () => "sunny");
  await ai.generate({ model: "local/m", prompt: "How is Oslo?", tools: [weather] });
  process.exit();
});
JS
node ask.mjs
