// What a program has to act on, as classes of errors.

const PREFIX = "urn:sidecall:problem:";
const MOST_SHOWN = 500;

/** What this package throws. */
export class ClientError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came from the server. */
export class ServerUnreachable extends ClientError {}

/** What was given is no answer of a model, or what came is no answer of Sidecall. */
export class UnknownAnswer extends ClientError {}

/** Calls wait for a person; `run` goes on with the `turn` when all are decided. */
export class ApprovalNeeded extends ClientError {
  constructor(approvals, turn) {
    const names = approvals.filter((it) => it.sign_in == null).map((it) => it.tool_call.name);
    const links = new Map(approvals.flatMap((it) => (it.sign_in == null ? [] : [[it.sign_in.url, it.sign_in.provider]])));
    const said = names.length > 0 ? [`A person has to decide about: ${names.join(", ")}`] : [];
    said.push(...Array.from(links, ([url, provider]) => `A person has to sign in at ${provider}: ${url}`));
    super(said.join("; "));
    this.approvals = approvals;
    this.turn = turn;
  }
}

/** The server answered with a problem (RFC 9457). */
export class RequestRefused extends ClientError {
  constructor(document, status, retryAfter) {
    const slug = String(document.type ?? "").replace(PREFIX, "");
    const detail = String(document.detail || document.title || "");
    super(`${slug ? `${status} ${slug}` : status}: ${detail}`);
    this.document = document;
    this.status = status;
    this.slug = slug;
    this.detail = detail;
    this.errors = Array.isArray(document.errors) ? document.errors : [];
    this.requestId = document.instance;
    this.retryAfter = retryAfter;
  }
}

/** The request is not what the server takes; sent again it is refused again. */
export class RequestUnfit extends RequestRefused {}

/** The credentials are missing, wrong or expired (401). */
export class NotAuthenticated extends RequestRefused {}

/** The caller may not do that (403). */
export class NotAllowed extends RequestRefused {}

/** It does not exist, has expired, or is another caller's (404, 410). */
export class NotThere extends RequestRefused {}

/** It was decided or has ended already (409). */
export class Conflicting extends RequestRefused {}

/** There is no room now (429, 503), and none came while the client tried again. */
export class ServerBusy extends RequestRefused {}

/** The server has failed (500 and others). */
export class ServerFailed extends RequestRefused {}

const BY_STATUS = {
  401: NotAuthenticated,
  403: NotAllowed,
  404: NotThere,
  409: Conflicting,
  410: NotThere,
  429: ServerBusy,
  503: ServerBusy,
};

/** Return the error for a problem. */
export function makeRefusal(document, status, retryAfter) {
  const Kind = BY_STATUS[status] ?? (status >= 500 ? ServerFailed : RequestUnfit);
  return new Kind(document, status, retryAfter);
}

/** Return the error for an answer that is no success and has this text, of the server or of a proxy on the way. */
export function readRefusal(response, text) {
  const document = readProblem(text) ?? { title: response.statusText, detail: text.slice(0, MOST_SHOWN) };
  return makeRefusal(document, response.status, readSeconds(response.headers.get("Retry-After")));
}

/** Return the error for a problem that came as an event, of the server or of a proxy on the way. */
export function readToldRefusal(document) {
  const { status, retry_after: seconds } = document;
  const isStatus = Number.isInteger(status);
  return makeRefusal(keepWords(document, JSON.stringify(document)), isStatus ? status : 503, typeof seconds === "number" ? seconds : undefined);
}

function readProblem(text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return undefined;
  }
  return document === null || typeof document !== "object" || Array.isArray(document) ? undefined : keepWords(document, text);
}

/** Return a problem; of the JSON of a proxy on the way, which may have its words anywhere, keep the text. */
function keepWords(document, text) {
  const isOurs = typeof document.type === "string" && document.type.startsWith(PREFIX);
  const hasWords = typeof document.detail === "string" && document.detail !== "";
  return isOurs || hasWords ? document : { ...document, detail: text.slice(0, MOST_SHOWN) };
}

/** Return the error for an answer that names another address, as that of a server behind https or a proxy. */
export function makeMisplaced(response, url, path) {
  const place = response.headers.get("Location");
  const document = { title: response.statusText, detail: "the server answers that it is elsewhere, and not where" };
  if (place !== null) document.detail = `the server is at ${findServer(place, url, path)}: give that address`;
  return makeRefusal(document, response.status);
}

/** Return the address of a server of which one place is known: without the path and the query of this request. */
function findServer(place, url, path) {
  let found;
  try {
    found = new URL(place, url);
  } catch {
    return place;
  }
  const shown = `${found.origin}${found.pathname}`;
  return shown.endsWith(path) ? shown.slice(0, -path.length) : found.href;
}

/** Read how many seconds to wait, which may be said as a date. */
function readSeconds(text) {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  // Without the name of a day, much would be taken for a date that is none.
  const until = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(until) ? undefined : Math.max(0, (until - Date.now()) / 1000);
}
