// The tools of a server as tools of LangChain.js and LangGraph.js.

import { ToolMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";

import { NotAllowed } from "./failures.js";
import { ToolCallFailed, loadTools as loadServed, refuseUnknown, supply } from "./tools.js";

const OPTIONS = ["state", "context", "conversation", "filters", "ask", "approvalWait", "timeout"];
// Where LangGraph keeps these in the config of a task. It has no public name for them.
const [PAD, SAVER] = ["__pregel_scratchpad", "__pregel_checkpointer"];
// What agents put into their state for themselves.
const OF_AGENTS = ["lg_tool_call", "jumpTo", "structuredResponse"];

/**
 * Return the tools. `state` and `context` are values, or functions of the config of a call. Without a `state` the tools get
 * that of the graph, and without a `conversation` they get the `thread_id` of its config.
 */
export async function loadTools(server, options = {}) {
  refuseUnknown(options, OPTIONS, "loadTools");
  const { filters, ask, approvalWait, timeout, ...supplied } = options;
  const served = await loadServed(server, { filters, approvalWait, timeout });
  return served.map((it) => new SidecallTool(it, supplied, ask));
}

/** A tool whose arguments are checked, and mended, by the server alone. */
class SidecallTool extends DynamicStructuredTool {
  constructor(served, supplied, ask) {
    const { name, description, parameters: schema } = served;
    super({ name, description, schema, func: (args, _manager, config = {}) => run(served, args, config, supplied, ask) });
  }

  async call(arg, config, tags) {
    const unchecked = Object.create(this, { schema: { value: { type: "object" } } });
    return DynamicStructuredTool.prototype.call.call(unchecked, arg, config, tags);
  }
}

async function run(served, args, config, supplied, ask) {
  const id = config.toolCall?.id ?? config.toolCallId;
  const answer = await callUntilDecided(served, args, {
    ...(id === undefined ? {} : { id }),
    state: "state" in supplied ? supply(supplied.state, config) : readGraphState(config),
    context: supply(supplied.context, config),
    conversation: supply(supplied.conversation, config) ?? config.configurable?.thread_id,
    signal: config.signal,
    ask: ask ?? (await makeInterrupt(config)),
    ...(config.writer ? { onProgress: (progress) => config.writer({ ...progress, tool: served.name }) } : {}),
  });
  if (id !== undefined) return answerGraph(answer, config);
  if (answer.status === "error") throw new ToolCallFailed(answer);
  return answer.content;
}

/** Ask again where the one who resumed the graph may not decide, rather than end its run. */
async function callUntilDecided(served, args, options) {
  for (;;) {
    try {
      return await served.call(args, options);
    } catch (error) {
      // A guardrail may refuse a call with the same status.
      if (!(error instanceof NotAllowed) || !options.ask?.hasAnswered) throw error;
      Object.assign(options.ask, { hasAnswered: false, refusal: error.detail });
    }
  }
}

/** Return what JSON can say of the state of the graph around a call; messages as LangChain writes them for programs. */
function readGraphState({ state, configurable }) {
  const given = state ?? configurable?.[PAD]?.currentTaskInput;
  if (given === null || typeof given !== "object") return undefined;
  const entries = Object.entries(given).filter(([name]) => !OF_AGENTS.includes(name));
  return Object.fromEntries(entries.flatMap(([name, value]) => copyValue(name, name === "messages" ? writeMessages(value) : value)));
}

/** Copy a value that was not made to be sent: what JSON cannot say is left out, and numbers keep their digits as text. */
function copyValue(name, value) {
  const write = (_key, it) => (typeof it === "bigint" || (Number.isInteger(it) && !Number.isSafeInteger(it)) ? `${it}` : it);
  try {
    const text = JSON.stringify(value, write);
    return text === undefined ? [] : [[name, JSON.parse(text)]];
  } catch {
    return []; // It leads back to itself.
  }
}

function writeMessages(messages) {
  if (!Array.isArray(messages)) return messages;
  return messages.map((it) => (typeof it?.toDict === "function" ? { type: it.getType(), ...it.toDict().data } : it));
}

/** Return the answer, or the command by which it changes the state of the graph around it. */
async function answerGraph(answer, { configurable }) {
  const message = new ToolMessage(answer.message);
  const { state_update: update, goto, graph, answer_at: place = 0 } = answer.response_metadata;
  if (update === undefined || !configurable?.[PAD]) return message;
  const { Command, Send } = await import("@langchain/langgraph");
  const others = update.messages ?? [];
  const messages = Array.isArray(others) ? others : [others];
  const next = goto === undefined ? [] : [goto].flat().map((it) => (typeof it === "string" ? it : new Send(it.node, it.arg)));
  return new Command({
    update: { ...update, messages: [...messages.slice(0, place), message, ...messages.slice(place)] },
    ...(next.length > 0 ? { goto: next } : {}),
    ...(graph === undefined ? {} : { graph }),
  });
}

/** Return what interrupts the graph for a decision; nothing outside of a graph, or in one that keeps no state. */
async function makeInterrupt({ configurable }) {
  if (!configurable?.[PAD] || !configurable[SAVER]) return undefined;
  const { interrupt } = await import("@langchain/langgraph");
  // The task begins anew when it is resumed, and gives the answers to earlier questions again, in their order.
  let asked = 0;
  const ask = (approval) => {
    const shown = { type: "approval", ...approval, ...(ask.refusal ? { refusal: ask.refusal } : {}) };
    while (!ask.refusal && asked < (approval.question ?? 1) - 1) {
      interrupt(shown);
      asked += 1;
    }
    asked += 1;
    const verdict = interrupt(shown);
    ask.hasAnswered = true;
    return verdict;
  };
  return ask;
}
