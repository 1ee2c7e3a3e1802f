// Requests, sent again only where that does nothing twice.

import { readText } from "./answers.js";
import { RequestRefused, ServerUnreachable, makeMisplaced, readRefusal } from "./failures.js";
import { writeJson } from "./numbers.js";
import { readAddress, readCredential, requireCredential, requireHeaders } from "./settings.js";

// Refused before anything ran.
const NOT_BEGUN = new Set([
  "too-many-calls",
  "quota-exceeded",
  "budget-spent",
  "overloaded",
  "too-many-approvals",
  "too-many-jobs",
  "too-many-connections",
  "too-many-bytes",
  "issuer-unreachable",
]);
// The words of Node, Bun and Deno for a server that was not reached at all.
const NOT_REACHED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ConnectionRefused",
  "FailedToOpenSocket",
]);
const OF_DENO = /client error \(Connect\): (?:tcp connect|dns) error/;
// What says how a request is meant, and nothing of who sends it.
const MEANT = new Set(["accept", "content-type", "idempotency-key", "if-none-match", "prefer"]);
const MOST_HOPS = 5;
// What a server's own answer that the time is over may take on its way.
const GRACE = 2;

/** A server, and how often a request to it is repeated. */
export class Connection {
  #mayRepeat = new WeakSet();

  constructor(url, options = {}) {
    const { apiKey, token, headers, retries = 4, longestWait = 60, fetch = globalThis.fetch, ...unknown } = options;
    if (Object.keys(unknown).length > 0) {
      throw new TypeError(`a client does not take ${Object.keys(unknown).join(", ")}`);
    }
    this.url = readAddress(url);
    this.headers = requireHeaders(headers ?? {});
    this.credential = readCredential({ apiKey, token, headers });
    this.retries = retries;
    this.longestWait = longestWait;
    // A browser's fetch wants to be called without an object before it.
    this.fetch = (...request) => fetch(...request);
  }

  /**
   * Send a request until it is answered, and read the answer by `read`. `isSafe` means that it may arrive twice; what is
   * refused before it runs may in any case, also where the answer's events say so.
   */
  async ask(method, path, request, read) {
    // Written once: a number that may have been rounded is no matter of the way.
    const body = request.body === undefined ? undefined : writeJson(request.body);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await read(await this.#attempt(method, path, { ...request, body }));
      } catch (error) {
        const mayRepeat = this.#mayRepeat.has(error) || isNotBegun(error);
        const delay = mayRepeat ? this.delay(attempt, error.retryAfter) : undefined;
        if (delay === undefined) throw error;
        // Where the time is over meanwhile, the server's own word says more.
        await pause(delay, request.signal).catch((reason) => {
          throw reason instanceof ServerUnreachable ? error : reason;
        });
      }
    }
  }

  /** Return how long to wait before the next attempt, if there shall be one. */
  delay(attempt, wanted) {
    if (attempt >= this.retries || (wanted ?? 0) > this.longestWait) {
      return undefined;
    }
    // Spread, so that not all clients come back at once.
    const spread = 0.5 + Math.random() / 2;
    return wanted === undefined ? Math.min(0.25 * 2 ** attempt * spread, this.longestWait) : wanted + 0.1 * spread;
  }

  async #prove(signal) {
    const { credential } = this;
    const isAsked = typeof credential === "function";
    const proof = isAsked ? requireCredential(await awaitUnlessAborted(credential(), signal)) : credential;
    return proof ? { Authorization: `Bearer ${proof}` } : {};
  }

  async #attempt(method, path, { params = [], headers = {}, body, isSafe = false, signal }) {
    const query = params.length > 0 ? `${path.includes("?") ? "&" : "?"}${new URLSearchParams(params)}` : "";
    const own = body === undefined ? {} : { "Content-Type": "application/json" };
    const proved = { ...this.headers, ...(await this.#prove(signal)), ...own, ...headers };
    const request = { method, body, headers: proved, signal, redirect: "manual" };
    const response = await this.#follow(`${this.url}${path}${query}`, path.split("?")[0], request, isSafe);
    if (response.ok || response.status === 304) return response;
    const error = readRefusal(response, await readText(response, signal));
    if (isSafe && [429, 502, 503, 504].includes(error.status)) this.#mayRepeat.add(error);
    throw error;
  }

  /** Send a request to where the server leads it, as long as it stays the same request with the same credentials. */
  async #follow(url, path, request, isSafe) {
    for (let place = url, hops = 0; ; hops += 1) {
      const response = await this.#fetch(place, request, isSafe);
      // A page is not told where it is led: it can only follow, and look at where it has come to.
      if (response.type === "opaqueredirect") return this.#fetch(place, { ...request, redirect: "follow" }, isSafe);
      if (![301, 302, 303, 307, 308].includes(response.status)) return response;
      const next = response.status >= 307 ? findNext(response, place) : undefined;
      const mayFollow = next?.origin === new URL(place).origin || !namesSender(request.headers);
      await response.body?.cancel();
      if (next === undefined || hops >= MOST_HOPS || !mayFollow) {
        throw makeMisplaced(response, place, path);
      }
      place = next.href;
    }
  }

  async #fetch(url, request, isSafe) {
    try {
      return await this.fetch(url, request);
    } catch (lost) {
      request.signal?.throwIfAborted();
      const reason = lost?.cause?.message || lost?.message || lost;
      const error = new ServerUnreachable(`${request.method} ${url}: ${reason}`, { cause: lost });
      if (isSafe || isNotReached(lost)) this.#mayRepeat.add(error);
      throw error;
    }
  }
}

function findNext(response, place) {
  try {
    const next = new URL(response.headers.get("Location"), place);
    return /^https?:$/.test(next.protocol) ? next : undefined;
  } catch {
    return undefined;
  }
}

/** Return whether headers hold credentials, which may be in any of the program's own. */
function namesSender(headers) {
  return Object.keys(headers).some((name) => !MEANT.has(name.toLowerCase()));
}

function isNotBegun(error) {
  return error instanceof RequestRefused && (error.status === 429 || error.status === 503) && NOT_BEGUN.has(error.slug);
}

function isNotReached(lost) {
  const errors = [lost, lost?.cause].filter(Boolean);
  return errors.some((it) => NOT_REACHED.has(it.code) || OF_DENO.test(it.message));
}

/** Do something with a signal by which it ends when the time is over, or the program wants it no more. */
export async function within({ timeout, signal }, act) {
  const limit = startLimit({ timeout, signal });
  try {
    return await act(limit.signal);
  } finally {
    limit.end();
  }
}

/** Make a signal that tells when the time is over, and what ends that. */
export function startLimit({ timeout, signal }) {
  const seconds = Number(timeout);
  // The server refuses what is no time.
  if (timeout === undefined || !(seconds > 0 && seconds < 2e6)) return { signal, end: () => undefined };
  signal?.throwIfAborted();
  const control = new AbortController();
  const stop = () => control.abort(signal.reason);
  const late = () => control.abort(new ServerUnreachable(`no answer came within ${timeout} seconds`));
  const timer = setTimeout(late, (seconds + GRACE) * 1000);
  signal?.addEventListener("abort", stop, { once: true });
  const end = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  };
  return { signal: control.signal, end };
}

/** Wait for what comes of the program's own work, or until a signal says that nobody wants it any more. */
export async function awaitUnlessAborted(work, signal) {
  if (!signal) return work;
  signal.throwIfAborted();
  let stop;
  const aborted = new Promise((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
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
