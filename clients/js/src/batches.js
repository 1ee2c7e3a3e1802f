// Several calls at once: each answer in the place of its call, however they come.

import { isMessage, isObject, readAnswer } from "./answers.js";
import { makeId } from "./call_ids.js";
import { comesAsEvents, readEvents } from "./events.js";
import { UnknownAnswer } from "./failures.js";
import { describeRounded, findRounded } from "./numbers.js";

/** Return calls with ids where they have none, so that their answers are known by them. */
export function nameIds(calls) {
  return calls.map((call) => ("args" in call && !call.id ? { ...call, id: makeId() } : call));
}

/** Return in which place each answer belongs, by the ids of the calls; nothing where ids do not say it. */
export function findPlaces(calls) {
  const places = new Map();
  for (const [index, call] of calls.entries()) {
    const { id, call_id } = call.functionCall ?? call;
    const found = [...new Set([call_id, id])].filter((it) => (typeof it === "string" && it) || typeof it === "number");
    if (found.length === 0 || found.some((it) => places.has(`${it}`))) return undefined;
    for (const it of found) places.set(`${it}`, index);
  }
  return places;
}

/** Read the answers of calls in their order, and the id of the approval that each waits for, or nothing. */
export async function readBatch(response, { count, places, isPlain, signal }) {
  const isAnswer = isPlain ? isMessage : (it) => isObject(it) && ["type", "role", "functionResponse"].some((key) => key in it);
  if (!comesAsEvents(response)) {
    const isRight = (it) => Array.isArray(it) && it.length === count && it.every(isAnswer);
    const answers = await readAnswer(response, isRight, signal);
    const waiting = readWaiting(response.headers.get("X-Sidecall-Approvals") ?? "");
    return { answers, approvals: answers.map((answer) => waiting.get(idOf(answer)) ?? "") };
  }
  const [answers, approvals] = [Array(count).fill(undefined), Array(count).fill("")];
  for await (const { event, data } of readEvents(response, { count, isBatch: true, signal, isAnswer })) {
    if (event === "message") answers[findPlace(places, idOf(data))] = data;
    if (event === "approval") approvals[findPlace(places, `${data.tool_call.id}`)] = data.id;
  }
  return { answers, approvals };
}

function findPlace(places, id) {
  if (!places.has(id)) throw new UnknownAnswer(`there is an answer to ${id}, which is none of the calls`);
  return places.get(id);
}

function idOf(answer) {
  const inner = answer.functionResponse ?? answer;
  return `${inner.tool_call_id || inner.call_id || inner.tool_use_id || inner.approval_request_id || inner.id || ""}`;
}

function readWaiting(header) {
  const pairs = header.split(",").map((pair) => pair.trim()).filter(Boolean);
  if (pairs.some((pair) => /^\*=\d+$/.test(pair))) {
    throw new UnknownAnswer("so many calls of one batch wait for a person that the server names only some: send fewer");
  }
  return new Map(pairs.map((pair) => [decodeURIComponent(pair.split("=")[0]), pair.slice(pair.indexOf("=") + 1)]));
}

/** Return what the model reads in the place of an answer where an argument may have been rounded; else nothing. */
export function refuseRounded(call, form) {
  const write = REFUSALS[form];
  const args = call.args ?? call.input ?? call.functionCall?.args ?? call.function?.arguments ?? call.arguments;
  const place = write && findRounded(args, "args");
  return place === undefined ? undefined : write(call, `Error: ${describeRounded(place).detail}.`);
}

const writeChat = ({ id }, content) => ({ role: "tool", tool_call_id: id, content });
const writeStep = ({ id, name }, result) => ({ type: "function_result", call_id: id, name, result, is_error: true });

const REFUSALS = {
  "langchain": ({ id, name }, content) => makeFailure(id, name, "invalid_arguments", content),
  "openai": writeChat,
  "ollama": writeChat,
  "anthropic": ({ id }, content) => ({ type: "tool_result", tool_use_id: id, content, is_error: true }),
  "gemini": ({ functionCall: { id, name } }, error) => ({ functionResponse: { id, name, response: { error } } }),
  "gemini-steps": writeStep,
  "gemini-outputs": writeStep,
};

/** Make the answer to a call that the server does not run, or that does not reach it. */
export function makeFailure(id, name, kind, message) {
  return {
    content: message,
    artifact: null,
    tool_call_id: id,
    name,
    status: "error",
    type: "tool",
    id: null,
    additional_kwargs: {},
    response_metadata: { error: { kind, message, retryable: false } },
  };
}
