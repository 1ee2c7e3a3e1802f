// The tools of a server as tools of the Vercel AI SDK, and of Mastra, which takes such.

import { isMessage } from "./answers.js";
import { makeFailure } from "./batches.js";
import { RequestUnfit } from "./failures.js";
import { copyJson } from "./numbers.js";

// By this the SDK knows a schema, whichever of its versions made it.
const SCHEMA = Symbol.for("vercel.ai.schema");
const OPTIONS = ["state", "context", "filters", "ask", "timeout"];
const MOST_ASKED = 1000;
// What a model reads as an error that can mend it: the problem, and the kind of failure.
const FOR_THE_MODEL = { "key-reused": "key_reused", "rounded-number": "invalid_arguments" };

/** Make the tools. `state` and `context` are values, or functions of what the SDK says about a call. */
export async function makeAiTools(server, options) {
  const unknown = Object.keys(options).filter((key) => !OPTIONS.includes(key));
  if (unknown.length > 0) throw new TypeError(`aiTools does not take ${unknown.join(", ")}`);
  const { filters = {}, ...supplied } = options;
  const listed = await server.tools("mcp", filters);
  const reader = { takesFiles: false };
  return Object.fromEntries(listed.map((it) => [it.name, makeTool(server, it, supplied, reader)]));
}

/** Make a tool; `reader` is who takes what its model reads, as is known once a tool has run. */
function makeTool(server, listed, { ask, timeout, ...supplied }, reader) {
  const asked = new Asked();
  const writeCall = (input, { toolCallId } = {}) => ({ type: "tool_call", name: listed.name, args: input, id: toolCallId });
  const supply = (about) => ({
    state: typeof supplied.state === "function" ? supplied.state(about) : supplied.state,
    context: typeof supplied.context === "function" ? supplied.context(about) : supplied.context,
  });
  const needsApproval = async (input, about = {}) => {
    const needs = await askFirst(server, writeCall(input, about), supply(about));
    asked.note(input, needs);
    return needs;
  };
  return {
    type: "dynamic",
    description: listed.description,
    inputSchema: { [SCHEMA]: true, _type: undefined, jsonSchema: listed.inputSchema, validate: undefined },
    async execute(input, about = {}) {
      // Version 7 of the SDK gives a context to each call, and writes images as files.
      reader.takesFiles = "context" in about && !("experimental_context" in about);
      const decide = wasApproved(about) || asked.wasApproved(input, about) ? approveOnce(listed.name, ask) : ask;
      const own = { ...supply(about), timeout, signal: about.abortSignal, ...(decide ? { ask: decide } : {}) };
      const call = writeCall(input, about);
      return server.call(call, undefined, own).catch((error) => answerUnfit(error, call));
    },
    // Mastra gives the answer itself.
    toModelOutput: (given) => (isMessage(given) ? writeOutput(given, false) : writeOutput(given?.output, reader.takesFiles)),
    ...(listed._meta ? { needsApproval } : {}),
  };
}

/** Return whether a person has to decide; only planned, so that nothing is left waiting in the server. */
async function askFirst(server, call, supplied) {
  try {
    return (await server.preview(call, undefined, supplied)).requires_approval;
  } catch (error) {
    // Of what the model can mend it reads when the call is made.
    if (error instanceof RequestUnfit && error.slug in FOR_THE_MODEL) return false;
    throw error;
  }
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

/** Return what the model reads where it has used an id again, as in a batch, or a number that may be rounded. */
function answerUnfit(error, { id, name }) {
  const kind = error instanceof RequestUnfit ? FOR_THE_MODEL[error.slug] : undefined;
  if (kind === undefined) throw error;
  return makeFailure(id ?? "", name, kind, error.detail);
}

/**
 * What was said of calls that Mastra has asked about. It asks again before it runs a call, by the arguments alone, and runs
 * one that needs an approval only where it has it, of which it says nothing more.
 */
class Asked {
  #needs = new Map();

  note(input, needs) {
    const said = JSON.stringify(copyJson(input));
    this.#needs.delete(said);
    this.#needs.set(said, needs);
    if (this.#needs.size > MOST_ASKED) this.#needs.delete(this.#needs.keys().next().value);
  }

  wasApproved(input, about) {
    return isOfMastra(about) && this.#needs.get(JSON.stringify(copyJson(input))) === true;
  }
}

function isOfMastra(about) {
  return "suspend" in about && "requestContext" in about;
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
function writeOutput(answer, takesFiles) {
  if (!isMessage(answer)) return { type: "text", value: typeof answer === "string" ? answer : JSON.stringify(answer ?? null) };
  const { content, status } = answer;
  if (typeof content === "string") return { type: status === "error" ? "error-text" : "text", value: content };
  return { type: "content", value: content.map((block) => writeBlock(block, takesFiles)) };
}

function writeBlock(block, takesFiles) {
  if (typeof block === "string") return { type: "text", text: block };
  if (typeof block.text === "string") return { type: "text", text: block.text };
  const mediaType = block.mime_type ?? (block.type === "image" ? "image/png" : "application/octet-stream");
  const isMedium = block.type === "image" || block.type === "file";
  if (!isMedium || !(block.base64 || block.url)) return { type: "text", text: JSON.stringify(block) };
  const filename = block.extras?.filename ?? block.filename;
  if (!takesFiles) return writeEarlier(block, mediaType, filename);
  if (block.base64) return { type: "file", data: { type: "data", data: block.base64 }, mediaType, filename };
  return { type: "file", data: { type: "url", url: new URL(block.url) }, mediaType };
}

/** Write a medium as version 6 takes it, and Mastra; version 7 takes it too, but says that it is the older form. */
function writeEarlier({ type, base64, url }, mediaType, filename) {
  const kind = type === "image" && (!base64 || mediaType.startsWith("image/")) ? "image" : "file";
  if (!base64) return { type: `${kind}-url`, url, mediaType };
  return { type: `${kind}-data`, data: base64, mediaType, ...(kind === "file" && filename ? { filename } : {}) };
}
