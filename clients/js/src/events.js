// Server-sent events, read from the body of an answer as they come.

import { isApproval, isMessage, isObject, makeUnknown, readText } from "./answers.js";
import { ServerUnreachable, UnknownAnswer, readToldRefusal } from "./failures.js";
import { parseJson } from "./numbers.js";

const MEDIA_TYPE = "text/event-stream";

/** Return whether an answer comes as events. */
export function comesAsEvents(response) {
  return (response.headers.get("Content-Type") ?? "").toLowerCase().startsWith(MEDIA_TYPE);
}

/** Give the events of calls, `{event, data}` each, until all `count` of them are answered. */
export async function* readEvents(response, { count, isBatch, signal, isAnswer = isMessage }) {
  if (!comesAsEvents(response)) throw makeUnknown(response, await readText(response, signal));
  let left = count;
  for await (const { event, data } of readAll(response, signal)) {
    if (event === "problem" || event === "error") throw readToldRefusal(data);
    const isRight = { message: isAnswer, approval: isApproval }[event] ?? isObject;
    if (!isRight(data)) throw new UnknownAnswer(`an event ${event} is none of a Sidecall server: ${shorten(data)}`);
    // Of several calls one that waits for a person has an answer, too.
    if (event === "message" || (event === "approval" && !isBatch)) left -= 1;
    yield { event, data };
  }
  if (left > 0) throw new ServerUnreachable(`the events end, and ${left} of ${count} calls have no answer`);
}

async function* readAll(response, signal) {
  let name = "";
  let texts = [];
  for await (const line of readLines(response, signal)) {
    if (line !== "") {
      const [, key, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (key === "data") texts.push(value);
      if (key === "event") name = value;
      continue;
    }
    if (texts.length > 0) yield { event: name, data: readData(texts.join("\n")) };
    name = "";
    texts = [];
  }
}

function readData(text) {
  let data;
  try {
    data = parseJson(text);
  } catch {
    data = undefined;
  }
  if (!isObject(data)) throw new UnknownAnswer(`the data of an event are none of a Sidecall server: ${shorten(text)}`);
  return data;
}

function shorten(said) {
  return (typeof said === "string" ? said : JSON.stringify(said)).slice(0, 200);
}

async function* readLines(response, signal) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  try {
    for (;;) {
      const { value, done } = await take(reader, signal);
      if (done) {
        return;
      }
      const lines = (left + value).split(/\r?\n/);
      left = lines.pop();
      yield* lines;
    }
  } finally {
    // Nobody wants more: the server hears of it.
    await reader.cancel().catch(() => undefined);
  }
}

async function take(reader, signal) {
  try {
    return await reader.read();
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ServerUnreachable(`the events end: ${cause?.message ?? cause}`, { cause });
  }
}
