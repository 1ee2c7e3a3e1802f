// Server-sent events, as they come in piece by piece.

/** Read a response of server-sent events: each is `{event, data, id}`, its data as text. */
export async function* readEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const pieces = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pieces.push(value);
    // Looked at as a whole only when an event may have ended: a large one comes in many pieces.
    if (!value.includes("\n")) continue;
    const blocks = pieces.splice(0).join("").split("\n\n");
    pieces.push(blocks.pop());
    for (const block of blocks) {
      const event = readBlock(block);
      if (event.data !== undefined) yield event;
    }
  }
}

function readBlock(block) {
  const event = { event: "message" };
  for (const line of block.split("\n")) {
    const [, name, value] = /^(\w*): ?(.*)$/s.exec(line) ?? [];
    if (name === "data") event.data = event.data === undefined ? value : `${event.data}\n${value}`;
    else if (name === "event" || name === "id") event[name] = value;
  }
  return event;
}
