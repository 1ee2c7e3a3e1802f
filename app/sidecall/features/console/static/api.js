// Ask the server's API, and follow what it says piece by piece.

import { parse, stringify } from "./json.js";

const ROOT = document.documentElement.dataset.root;
const PROBLEM = /[/+]json\b/;

/** What the API has refused; `problem` is what it says, with numbers as they are written. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The server answered with ${status}.`);
    this.status = status;
    this.problem = problem;
  }
}

/** Return the address of something of this server, relative to the page. */
export function address(path) {
  return ROOT + path;
}

/** Send a request; `body` is a value that becomes JSON. Returns the response, or throws a Refusal. */
export async function send(path, { method = "GET", body, headers = {}, signal } = {}) {
  const asked = { method, signal, headers: { Accept: "application/json", ...headers }, credentials: "same-origin" };
  if (body !== undefined) {
    asked.headers["Content-Type"] = "application/json";
    asked.body = stringify(body);
  }
  const response = await fetch(address(path), asked);
  if (response.ok) return response;
  const text = await response.text();
  throw new Refusal(response.status, PROBLEM.test(response.headers.get("Content-Type") ?? "") ? parse(text) : {});
}

/** Send a request, and return what the JSON of its answer says, or null where it has none. */
export async function ask(path, options) {
  const text = await (await send(path, options)).text();
  return text === "" ? null : parse(text);
}

/** Say in words what went wrong, with what its reader can do. */
export function explain(error) {
  if (error instanceof Refusal && error.status === 401) {
    return "Your session has ended. Log in again in another tab, then go on here: what you have filled in stays.";
  }
  if (error instanceof Refusal) return error.message;
  if (error.name === "AbortError") return "Cancelled.";
  return "The server cannot be reached. What you have filled in stays; try again.";
}
