// What comes back, and whether a Sidecall server has said it.

import { ServerUnreachable, UnknownAnswer } from "./failures.js";
import { parseJson } from "./numbers.js";

const SHOWN = 200;

/** What each answer has, whichever version of the server gives it. */
export const isMessage = (it) => isObject(it) && "content" in it && typeof it.tool_call_id === "string";
export const isJob = (it) => isObject(it) && typeof it.id === "string" && typeof it.status === "string";
export const isApproval = (it) => isJob(it) && isObject(it.tool_call);
export const isPreview = (it) => isObject(it) && typeof it.would_run === "boolean";
export const isTool = (it) => isObject(it) && typeof it.name === "string";
export const isListOf = (isOne) => (it) => Array.isArray(it) && it.every(isOne);

const NAMED = ["type", "name", "title", "function", "functionDeclarations"];

/** Return what says whether an item is a tool in a form; Gemini's may be any object. */
export function isDefinition(format) {
  return (it) => isObject(it) && (format === "gemini" ? Object.keys(it).length > 0 : NAMED.some((name) => name in it));
}

export function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Read an answer's JSON, which has to be what `isRight` says; `parse` reads its text. */
export async function readAnswer(response, isRight, signal, parse = parseJson) {
  const text = await readText(response, signal);
  let value;
  try {
    value = parse(text);
  } catch {
    throw makeUnknown(response, text);
  }
  if (!isRight(value)) throw makeUnknown(response, text);
  return value;
}

/** Read an answer to its end. */
export async function readText(response, signal) {
  try {
    return await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ServerUnreachable(`the answer is cut off: ${cause?.message ?? cause}`, { cause });
  }
}

/** Make the error for an answer that no Sidecall server gives. */
export function makeUnknown(response, text) {
  const place = response.url ? ` of ${response.url.split("?")[0]}` : "";
  const said = text.trim().slice(0, SHOWN);
  return new UnknownAnswer(`the answer${place} (${response.status}) is none of a Sidecall server: ${said || "it is empty"}`);
}
