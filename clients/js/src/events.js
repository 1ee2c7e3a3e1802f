// Server-sent events, read from the body of an answer as they come.

import { ServerUnreachable, makeRefusal } from "./failures.js";

/** Give the events of a stream: `{event, data}` each. */
export async function* readEvents(response) {
  let name = "";
  let texts = [];
  for await (const line of readLines(response)) {
    if (line !== "") {
      const [, key, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (key === "data") texts.push(value);
      if (key === "event") name = value;
      continue;
    }
    if (texts.length > 0) {
      const data = JSON.parse(texts.join("\n"));
      if (name === "problem" || name === "error") {
        throw makeRefusal(data, Number(data.status ?? 503));
      }
      yield { event: name, data };
    }
    name = "";
    texts = [];
  }
}

async function* readLines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  try {
    for (;;) {
      const { value, done } = await take(reader);
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

async function take(reader) {
  try {
    return await reader.read();
  } catch (cause) {
    if (cause?.name === "AbortError") throw cause;
    throw new ServerUnreachable(`the events end: ${cause?.message ?? cause}`, { cause });
  }
}
