// A server of our own that says what it is told to, for what a Sidecall server never says.

import { createServer } from "node:http";

/** Run something with a server whose requests are answered by these functions, the last again and again. */
export async function withServer(answers, act) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push({ method: request.method, url: request.url, headers: request.headers, body });
    await (answers.length > 1 ? answers.shift() : answers[0])(request, response, body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await act(`http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    server.closeAllConnections?.();
    server.close();
  }
}

/** Answer with this. */
export function say(status, body, headers = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const type = typeof body === "string" ? "text/html" : "application/json";
  return (_request, response) => response.writeHead(status, { "Content-Type": type, ...headers }).end(text);
}

/** Answer with events, and then end, or cut the connection, or say nothing more. */
export function tell(events, then = "end") {
  return (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("") || ": \n\n");
    if (then === "end") response.end();
    if (then === "cut") setTimeout(() => response.destroy(), 20);
  };
}

export const ANSWER = { content: "8", tool_call_id: "a", name: "double", status: "success", type: "tool" };

/** Return the address of a port at which nobody listens. */
export function findSilent() {
  return withServer([], async (url) => url);
}
