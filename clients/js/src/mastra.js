// The tools of a server as tools of Mastra.

import { createTool } from "@mastra/core/tools";

import { NotAllowed } from "./failures.js";
import { ToolCallFailed, loadTools as loadServed, refuseUnknown, supply } from "./tools.js";

const OPTIONS = ["state", "context", "conversation", "filters", "ask", "approvalWait", "timeout"];
// By this a schema is known that checks nothing itself: arguments are checked, and mended, by the server alone.
const SCHEMA = Symbol.for("vercel.ai.schema");

/**
 * Return the tools by their names. `state` and `context` are values, or functions of Mastra's context of a call. Without a
 * `conversation` the tools get the thread of the agent's memory.
 */
export async function loadTools(server, options = {}) {
  refuseUnknown(options, OPTIONS, "loadTools");
  const { filters, ask, approvalWait, timeout, ...supplied } = options;
  const served = await loadServed(server, { filters, approvalWait, timeout });
  return Object.fromEntries(served.map((it) => [it.name, makeTool(server, it, supplied, ask)]));
}

function makeTool(server, served, supplied, ask) {
  return createTool({
    id: served.name,
    description: served.description,
    inputSchema: { [SCHEMA]: true, _type: undefined, jsonSchema: served.parameters, validate: undefined },
    execute: (args, about = {}) => run(server, served, args, about, supplied, ask),
    toModelOutput: writeOutput,
  });
}

async function run(server, served, args, about, supplied, ask) {
  const { agent = {}, abortSignal, writer } = about;
  const decide = makeVerdict(agent);
  const id = agent.toolCallId;
  const answer = await served.call(args, {
    ...(id === undefined ? {} : { id }),
    state: supply(supplied.state, about),
    context: supply(supplied.context, about),
    conversation: supply(supplied.conversation, about) ?? agent.threadId,
    signal: abortSignal,
    ask: ask ?? decide,
    ...(writer?.custom ? { onProgress: (progress) => writer.custom({ type: "data-sidecall-progress", data: { ...progress, tool: served.name } }) } : {}),
  }).catch((error) => {
    // Who resumed the run may not decide: it goes on waiting. A guardrail may refuse a call with the same status.
    if (!(error instanceof NotAllowed) || !decide?.asked) throw error;
    return { approval: { ...decide.asked, refusal: error.detail } };
  });
  if (answer.approval && agent.suspend && !ask) return agent.suspend(answer.approval);
  if (answer.status === "error") throw new ToolCallFailed(answer);
  return answer;
}

/** Return what gives the decision with which a run was resumed, to the question that it was suspended for. */
function makeVerdict({ resumeData, suspendPayload }) {
  if (resumeData === undefined || resumeData === null) return undefined;
  const verdict = typeof resumeData === "object" && "approved" in resumeData ? Boolean(resumeData.approved) : resumeData;
  const decide = (approval) => {
    if (suspendPayload?.question !== undefined && approval.question !== suspendPayload.question) return undefined;
    decide.asked = approval;
    return verdict;
  };
  return decide;
}

/** Write what the model reads; the program has the whole answer, its artifact among it. */
function writeOutput(answer) {
  if (answer === null || typeof answer !== "object" || !("tool_call_id" in answer)) {
    return { type: "text", value: typeof answer === "string" ? answer : JSON.stringify(answer ?? null) };
  }
  if (typeof answer.content === "string") return { type: "text", value: answer.content };
  return { type: "content", value: answer.content.map(writeBlock) };
}

function writeBlock(block) {
  if (typeof block === "string") return { type: "text", text: block };
  if (typeof block.text === "string") return { type: "text", text: block.text };
  const mediaType = block.mime_type ?? (block.type === "image" ? "image/png" : "application/octet-stream");
  if (block.base64) return { type: block.type === "image" ? "image-data" : "file-data", data: block.base64, mediaType };
  if (block.url) return { type: block.type === "image" ? "image-url" : "file-url", url: block.url, mediaType };
  return { type: "text", text: JSON.stringify(block) };
}
