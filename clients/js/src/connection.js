// Requests, sent again only where that does nothing twice.

import { ClientError, ServerUnreachable, readRefusal } from "./failures.js";

// Refused before anything ran.
const NOT_BEGUN = new Set([
  "too-many-calls",
  "quota-exceeded",
  "overloaded",
  "too-many-approvals",
  "too-many-jobs",
  "too-many-connections",
  "too-many-bytes",
  "issuer-unreachable",
]);
// Node's and Deno's words for a server that was not reached at all.
const NOT_REACHED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);
const DEFAULT_URL = "http://127.0.0.1:8000";

/** A server, and how often a request to it is repeated. */
export class Connection {
  constructor(url, options = {}) {
    const { apiKey, token, headers, retries = 4, longestWait = 60, fetch = globalThis.fetch, ...unknown } = options;
    if (Object.keys(unknown).length > 0) {
      throw new TypeError(`a client does not take ${Object.keys(unknown).join(", ")}`);
    }
    this.url = String(url ?? readEnvironment("SIDECALL_URL") ?? DEFAULT_URL).replace(/\/+$/, "");
    this.credential = token ?? apiKey ?? readEnvironment("SIDECALL_API_KEY");
    this.headers = headers ?? {};
    this.retries = retries;
    this.longestWait = longestWait;
    // A browser's fetch wants to be called without an object before it.
    this.fetch = (...request) => fetch(...request);
  }

  /** Send a request until it is answered. `isSafe` means that it may arrive twice. */
  async send(method, path, { params = [], headers = {}, body, isSafe = false, signal } = {}) {
    const query = params.length > 0 ? `${path.includes("?") ? "&" : "?"}${new URLSearchParams(params)}` : "";
    const request = { method, body: body === undefined ? undefined : JSON.stringify(body), signal };
    for (let attempt = 0; ; attempt += 1) {
      const own = body === undefined ? {} : { "Content-Type": "application/json" };
      request.headers = { ...this.headers, ...(await this.#prove()), ...own, ...headers };
      const { response, error, mayRepeat } = await this.#try(`${this.url}${path}${query}`, request, isSafe);
      if (response) {
        return response;
      }
      const delay = mayRepeat ? this.delay(attempt, error.retryAfter) : undefined;
      if (delay === undefined) {
        throw error;
      }
      await pause(delay, signal);
    }
  }

  /** Return how long to wait before the next attempt, if there shall be one. */
  delay(attempt, wanted) {
    if (attempt >= this.retries || (wanted ?? 0) > this.longestWait) {
      return undefined;
    }
    // Spread, lest all clients come back at once.
    const spread = 0.5 + Math.random() / 2;
    return wanted === undefined ? Math.min(0.25 * 2 ** attempt * spread, this.longestWait) : wanted + 0.1 * spread;
  }

  async #prove() {
    const credential = typeof this.credential === "function" ? await this.credential() : this.credential;
    return credential ? { Authorization: `Bearer ${credential}` } : {};
  }

  async #try(url, request, isSafe) {
    let response;
    try {
      response = await this.fetch(url, request);
    } catch (lost) {
      if (request.signal?.aborted) {
        throw lost;
      }
      const error = new ServerUnreachable(`${request.method} ${url}: ${lost?.cause?.message || lost?.message || lost}`, { cause: lost });
      return { error, mayRepeat: isSafe || NOT_REACHED.has(lost?.cause?.code) };
    }
    if (response.ok || response.status === 304) {
      return { response };
    }
    const error = await readRefusal(response);
    const notBegun = (error.status === 429 || error.status === 503) && NOT_BEGUN.has(error.slug);
    return { error, mayRepeat: notBegun || (isSafe && [429, 502, 503, 504].includes(error.status)) };
  }
}

/** Wait for so many seconds, or until a signal says that nobody wants to any more. */
export async function pause(seconds, signal) {
  signal?.throwIfAborted();
  await new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Read an answer's JSON. */
export async function readJson(response) {
  try {
    return await response.json();
  } catch (cause) {
    throw new ClientError("the answer is cut off, or is no JSON", { cause });
  }
}

function readEnvironment(name) {
  try {
    return globalThis.process?.env?.[name] || globalThis.Deno?.env?.get(name) || undefined;
  } catch {
    return undefined; // Deno, where reading it is not allowed
  }
}
