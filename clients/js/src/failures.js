// What a program has to act on, as classes of errors.

const PREFIX = "urn:sidecall:problem:";

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
    super(`${status} ${slug}: ${detail}`);
    this.document = document;
    this.status = status;
    this.slug = slug;
    this.detail = detail;
    this.errors = document.errors ?? [];
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

/** Return the error for an answer that is no success, whoever on the way has written it. */
export async function readRefusal(response) {
  const text = await response.text();
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    document = undefined;
  }
  if (document === null || typeof document !== "object" || Array.isArray(document)) {
    document = { title: response.statusText, detail: text.slice(0, 500) };
  }
  const wait = response.headers.get("Retry-After");
  return makeRefusal(document, response.status, /^\d+$/.test(wait ?? "") ? Number(wait) : undefined);
}
