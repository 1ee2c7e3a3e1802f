// The tools of a server as plain objects, for any framework; adapters of frameworks are made of them.

import { makeId } from "./call_ids.js";
import { ApprovalNeeded, RequestUnfit, ServerBusy } from "./failures.js";
import { makeFailure } from "./batches.js";

// What `loadTools` takes, and a call.
const BESIDE = ["state", "context", "conversation", "ask", "approvalWait", "timeout", "onProgress", "onPartial"];
const OF_ALL = [...BESIDE, "filters"];
const OF_ONE = [...BESIDE, "id", "signal", "key"];
// What a model reads as an error that it can mend: the problem, and the kind of failure.
const FOR_THE_MODEL = { "key-reused": "key_reused", "rounded-number": "invalid_arguments" };

/** The answer to a call: the nine keys of LangChain's ToolMessage, and the approval that it waits for, or null. */
export class ToolAnswer {
  constructor(message, approval = null) {
    Object.assign(this, message);
    this.approval = approval;
  }

  /** Why the call failed; null where it succeeded. */
  get error() {
    return this.response_metadata?.error ?? null;
  }

  /** What the model reads, as one text. */
  get text() {
    if (typeof this.content === "string") return this.content;
    return this.content.map((part) => (typeof part === "string" ? part : part.text ?? JSON.stringify(part))).join("\n");
  }

  /** The nine keys, as `new ToolMessage(answer.message)` of LangChain takes them. */
  get message() {
    const { approval: _, ...message } = this;
    return message;
  }
}

/** A tool of a server. */
export class ServedTool {
  #server;
  #supplied;

  constructor(server, { name, description, inputSchema, _meta }, supplied) {
    this.#server = server;
    this.#supplied = supplied;
    this.name = name;
    this.description = description ?? "";
    /** A JSON Schema, with its references in their places unless a type refers to itself. */
    this.parameters = inputSchema;
    /** Whether some calls may wait for a person before they run. */
    this.mayAsk = Boolean(_meta);
  }

  /** Run a call; a failed one is an answer, too, and so is one that waits for a person. */
  async call(args = {}, options = {}) {
    refuseUnknown(options, OF_ONE, "a call");
    const { id = makeId(), conversation, onProgress, onPartial, ...rest } = { ...this.#supplied, ...options };
    const own = { ...rest, context: nameConversation(rest.context, conversation) };
    const call = { type: "tool_call", name: this.name, args, id };
    try {
      const isHeard = onProgress !== undefined || onPartial !== undefined;
      const message = isHeard ? await this.#follow(call, own, { onProgress, onPartial }) : await this.#server.call(call, undefined, own);
      return new ToolAnswer(message);
    } catch (error) {
      return readRefused(error, call);
    }
  }

  /** Run a call whose progress is told. */
  async #follow(call, { ask, approvalWait, key, ...own }, { onProgress, onPartial }) {
    if (key !== undefined) throw new TypeError("a call with a key is not followed: leave out onProgress and onPartial");
    for await (const { event, data } of this.#server.stream(call, undefined, own)) {
      if (event === "message") return data;
      if (event === "approval") return this.#server.approvals.settle(data.id, "langchain", { ask, approvalWait, signal: own.signal });
      if (event === "progress") await onProgress?.({ type: "progress", ...data });
      if (event === "partial") await onPartial?.({ type: "partial", ...data });
    }
  }

  /** Return whether a person has to decide about a call first; nothing runs, and nothing is left waiting. */
  async needsApproval(args = {}, options = {}) {
    const { state, context, conversation } = { ...this.#supplied, ...options };
    const call = { type: "tool_call", name: this.name, args };
    const preview = await this.#server.preview(call, undefined, { state, context: nameConversation(context, conversation) });
    return preview.requires_approval;
  }
}

/**
 * Return the tools of a server. `state`, `context`, `conversation`, `ask` and the like go with all their calls; what a call
 * says itself goes before.
 */
export async function loadTools(server, options = {}) {
  refuseUnknown(options, OF_ALL, "loadTools");
  const { filters = {}, ...supplied } = options;
  return (await server.tools("mcp", filters)).map((listed) => new ServedTool(server, listed, supplied));
}

function nameConversation(context, conversation) {
  return conversation === undefined ? context : { ...context, conversation_id: conversation };
}

/** Return the answer that stands for an error, where a model or a person can do something about it. */
function readRefused(error, { id, name }) {
  if (error instanceof ApprovalNeeded) {
    const [approval] = error.approvals;
    const answer = new ToolAnswer(makeFailure(id, name, "approval_required", `${error.message} (${approval.id}).`), approval);
    answer.response_metadata.approval_id = approval.id;
    return answer;
  }
  // A quota or a budget is used up, or there is no room: the call has not begun.
  const kind = error instanceof ServerBusy ? "overloaded" : error instanceof RequestUnfit ? FOR_THE_MODEL[error.slug] : undefined;
  if (kind === undefined) throw error;
  const answer = new ToolAnswer(makeFailure(id, name, kind, error.detail));
  if (kind === "overloaded") {
    answer.error.retryable = true;
    answer.error.retry_after_ms = error.retryAfter === undefined ? null : error.retryAfter * 1000;
  }
  return answer;
}

export function refuseUnknown(options, known, place) {
  const unknown = Object.keys(options).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new TypeError(`${place} does not take ${unknown.join(", ")}`);
}

/** What an adapter says of a value, or of a function of what its framework says about a call. */
export function supply(given, about) {
  return typeof given === "function" ? given(about) : given;
}

/** A failed call, for frameworks in which a tool fails by an error. */
export class ToolCallFailed extends Error {
  constructor(answer) {
    super(answer.text);
    this.name = "ToolCallFailed";
    this.answer = answer;
    this.kind = answer.error?.kind;
  }
}
