// The tools of a server as tools of the Vercel AI SDK.

import { RequestUnfit } from "./failures.js";

// By this the SDK knows a schema, whichever of its versions made it.
const SCHEMA = Symbol.for("vercel.ai.schema");
const OPTIONS = ["state", "context", "filters", "ask", "timeout"];

/** Make the tools. `state` and `context` are values, or functions of what the SDK says about a call. */
export async function makeAiTools(server, options) {
  const unknown = Object.keys(options).filter((key) => !OPTIONS.includes(key));
  if (unknown.length > 0) throw new TypeError(`aiTools does not take ${unknown.join(", ")}`);
  const { filters = {}, ...supplied } = options;
  const listed = await server.tools("mcp", filters);
  return Object.fromEntries(listed.map((it) => [it.name, makeTool(server, it, supplied)]));
}

function makeTool(server, listed, { ask, timeout, ...supplied }) {
  const writeCall = (input, { toolCallId }) => ({ type: "tool_call", name: listed.name, args: input, id: toolCallId });
  const supply = (about) => ({
    state: typeof supplied.state === "function" ? supplied.state(about) : supplied.state,
    context: typeof supplied.context === "function" ? supplied.context(about) : supplied.context,
  });
  return {
    type: "dynamic",
    description: listed.description,
    inputSchema: { [SCHEMA]: true, _type: undefined, jsonSchema: listed.inputSchema, validate: undefined },
    async execute(input, about) {
      const decide = wasApproved(about) ? approveOnce(listed.name, ask) : ask;
      const own = { ...supply(about), timeout, signal: about.abortSignal, ...(decide ? { ask: decide } : {}) };
      const call = writeCall(input, about);
      return server.call(call, undefined, own).catch((error) => answerReused(error, call));
    },
    toModelOutput: ({ output }) => writeOutput(output),
    ...(listed._meta ? { needsApproval: (input, about) => askFirst(server, writeCall(input, about), supply(about)) } : {}),
  };
}

/** Return whether a person has to decide; only planned, so that nothing is left waiting in the server. */
async function askFirst(server, call, supplied) {
  return (await server.preview(call, undefined, supplied)).requires_approval;
}

/** Make what answers the question that the SDK could show, as the preview said; what else is asked goes to `ask`. */
function approveOnce(name, ask) {
  let isUsed = false;
  return (approval) => {
    // What a tool asks itself has words, and what it wants to do inside another name.
    const isOwn = approval.description !== null || approval.tool_call.name !== name;
    if (isUsed || isOwn || approval.sign_in) return ask?.(approval);
    isUsed = true;
    return true;
  };
}

/** Return what the model reads that has used the id of a call for another one, as in a batch; throw other errors. */
function answerReused(error, { id, name }) {
  if (!(error instanceof RequestUnfit) || error.slug !== "key-reused") throw error;
  const failure = { kind: "key_reused", message: error.detail, retryable: false };
  return {
    content: error.detail,
    artifact: null,
    tool_call_id: id,
    name,
    status: "error",
    type: "tool",
    id: null,
    additional_kwargs: {},
    response_metadata: { error: failure },
  };
}

/** Return whether the conversation has a person's approval of this call. */
function wasApproved({ toolCallId, messages = [] }) {
  const parts = messages.flatMap((message) => (Array.isArray(message.content) ? message.content : []));
  const asked = parts.filter((it) => it.type === "tool-approval-request" && it.toolCallId === toolCallId);
  return parts.some(
    (it) => it.type === "tool-approval-response" && it.approved && asked.some(({ approvalId }) => approvalId === it.approvalId),
  );
}

/** Write what the model reads; the program has the whole answer, its artifact among it. */
function writeOutput(answer) {
  const { content, status } = answer;
  if (typeof content === "string") return { type: status === "error" ? "error-text" : "text", value: content };
  return { type: "content", value: content.map(writeBlock) };
}

function writeBlock(block) {
  if (typeof block === "string") return { type: "text", text: block };
  if (typeof block.text === "string") return { type: "text", text: block.text };
  const mediaType = block.mime_type ?? (block.type === "image" ? "image/png" : "application/octet-stream");
  if (block.type !== "image" && block.type !== "file") return { type: "text", text: JSON.stringify(block) };
  if (block.base64) {
    return { type: "file", data: { type: "data", data: block.base64 }, mediaType, filename: block.extras?.filename };
  }
  if (block.url) return { type: "file", data: { type: "url", url: new URL(block.url) }, mediaType };
  return { type: "text", text: JSON.stringify(block) };
}
