// The types of the package. What the server answers is as openapi/openapi.json has it; a test holds them together.

export type Dialect = "openai" | "openai-responses" | "anthropic" | "gemini" | "mcp" | "json_schema";
export type Json = Record<string, unknown>;
/** An object that is sent as JSON: also a value of an interface or a class. A BigInt in it is sent as text. */
export type Sent = object;
/** A text, or a function that gives the one of now. */
export type Credential = string | (() => string | Promise<string>);

/** How a server is reached; `url` and `apiKey` are in SIDECALL_URL and SIDECALL_API_KEY where they are not said. */
export interface ClientOptions {
  apiKey?: Credential | undefined;
  /** A bearer token. It goes in the place of a key: give one of the two. */
  token?: Credential | undefined;
  headers?: Record<string, string> | undefined;
  /** How often what was refused before it ran is sent again (4). */
  retries?: number | undefined;
  /** How many seconds a server may want to pass before that (60). */
  longestWait?: number | undefined;
  /** Give each call a key, so that one whose connection is lost is sent again and never runs twice. */
  makesKeys?: boolean | undefined;
  fetch?: typeof fetch | undefined;
}

export interface ToolFilters {
  strict?: boolean | undefined;
  tags?: string[] | undefined;
  names?: string[] | undefined;
  toolset?: string | undefined;
  context?: Sent | undefined;
  signal?: AbortSignal | undefined;
}

/** What stands beside calls, and never comes from the model. */
export interface Beside {
  state?: unknown;
  context?: Sent | undefined;
  signal?: AbortSignal | undefined;
}

export interface StreamOptions extends Beside {
  /** In how many seconds the answer has to be there; a little later the client waits no longer. */
  timeout?: number | undefined;
}

/** What a person says about a call; nothing where somebody else has decided. */
export type Verdict = boolean | ApprovalVerdict | null | undefined | void;
export interface ApprovalVerdict {
  decision: "approve" | "reject";
  args?: Sent | undefined;
  reason?: string | undefined;
  always?: boolean | undefined;
  expires_in?: number | undefined;
  /** The number of what was read, so that no other question of the call is answered. */
  question?: number | undefined;
}
export type AskPerson = (approval: Approval) => Verdict | Promise<Verdict>;

export interface TurnOptions extends StreamOptions {
  ask?: AskPerson | undefined;
  /** How many seconds to wait for somebody else's decision (0). */
  approvalWait?: number | undefined;
}

export interface CallOptions extends TurnOptions {
  /** Sent again with the same key, the call runs once. */
  key?: string | undefined;
}

export interface JobOptions extends StreamOptions {
  /** Sent again with the same key, the call runs once. */
  key?: string | undefined;
}

export interface RunOptions extends TurnOptions {
  /** Leave out what the model has said, for conversations that the provider keeps. */
  answersOnly?: boolean | undefined;
}

/** Why a call failed. */
export interface Failure {
  kind: string;
  message: string;
  retryable: boolean;
  errors?: Json[];
  retry_after_ms?: number | null;
}

/** The answer to a call: LangChain's ToolMessage. */
export interface ToolMessage {
  content: string | (string | Json)[];
  artifact: unknown;
  tool_call_id: string;
  name: string | null;
  status: "success" | "error";
  type: "tool";
  id: string | null;
  additional_kwargs: Json;
  response_metadata: Json & { error?: Failure };
}

/** A call that waits for a person, and what became of it. */
export interface Approval {
  id: string;
  status: "pending" | "approved" | "rejected" | "expired" | "cancelled";
  /** Which of its tool's questions waits, from 1; absent where the server is older. */
  question?: number;
  tool_call: { name: string; args: Json; id?: string | null };
  description: string | null;
  preview: unknown;
  reason: string | null;
  message: ToolMessage | null;
  /** Where its person has to sign in first. */
  sign_in?: { provider: string; url: string } | null;
  [more: string]: unknown;
}

/** How a remembered call stands; `message` is its answer, null until there is one. */
export interface JobState {
  id: string;
  name: string;
  status:
    | "queued"
    | "running"
    | "awaiting_approval"
    | "succeeded"
    | "failed"
    | "cancelled"
    | "expired"
    | "outcome_unknown";
  tool_call_id: string;
  /** Why it failed. */
  kind: string | null;
  /** About what a person has to decide. */
  approval_id: string | null;
  message: ToolMessage | null;
  [more: string]: unknown;
}

/** What a call would do. */
export interface Preview {
  would_run: boolean;
  name: string;
  args: Json | null;
  requires_approval: boolean;
  preview: unknown;
  [more: string]: unknown;
}

/** How far a tool has come: `done` of `total`, in any unit. */
export interface ProgressData {
  tool_call_id: string;
  done: number;
  total?: number | null;
  message?: string | null;
}

/** A part of an answer that a generator has made. */
export interface PartialData {
  tool_call_id: string;
  content: unknown;
}

export interface Progress extends ProgressData {
  type: "progress";
}

export interface PartialAnswer extends PartialData {
  type: "partial";
}

export type CallEvent =
  | { event: "message"; data: ToolMessage }
  | { event: "approval"; data: Approval }
  | { event: "progress"; data: ProgressData }
  | { event: "partial"; data: PartialData }
  | { event: "missed"; data: { tool_call_id: string; count: number } };

/** What a model has said; `run` goes on with one that waited for a person. */
export class Turn {
  private constructor();
  readonly form: "openai" | "openai-responses" | "anthropic" | "gemini" | "gemini-steps" | "gemini-outputs" | "langchain" | "ollama";
  readonly said: unknown[];
  readonly calls: Json[];
  readonly answers: unknown[];
  readonly approvals: string[];
  readonly messages: unknown[];
  readonly replies: unknown[];
}

export class ApprovalDesk {
  private constructor();
  /** Of `pending` ones, unless something else is said; `null` means all. */
  list(status?: "pending" | "approved" | "rejected" | "expired" | "cancelled" | null): Promise<Approval[]>;
  show(id: string): Promise<Approval>;
  decide(id: string, verdict: ApprovalVerdict): Promise<Approval>;
  approve(id: string, how?: { args?: Sent | undefined; reason?: string | undefined }): Promise<Approval>;
  reject(id: string, reason?: string): Promise<Approval>;
}

/** A value, or a function of what the AI SDK says about a call. */
export type OfAiCall<T> = T | ((about: { toolCallId: string; messages: any[] }) => T);

export interface AiOptions {
  state?: OfAiCall<object | string | number | boolean | null> | undefined;
  context?: OfAiCall<Sent> | undefined;
  filters?: ToolFilters | undefined;
  /** Decides about calls that the SDK could not ask about before. */
  ask?: AskPerson | undefined;
  timeout?: number | undefined;
}

/** A server of tools. */
export class Sidecall {
  constructor(url?: string | URL, options?: ClientOptions);
  readonly approvals: ApprovalDesk;
  /** List the tools as a provider's API takes them. Its SDK's own type goes in the brackets: `tools<Tool>()`. */
  tools<T = any>(format?: Dialect, filters?: ToolFilters): Promise<T[]>;
  tool(name: string): Promise<Json>;
  /** Run a tool, by its name and arguments, or by a call as a model wrote it. A failed call is an answer too. */
  call(name: string, args?: Sent, options?: CallOptions): Promise<ToolMessage>;
  call(call: object, args?: null, options?: CallOptions): Promise<ToolMessage>;
  preview(name: string, args?: Sent, options?: Beside): Promise<Preview>;
  preview(call: object, args?: null, options?: Beside): Promise<Preview>;
  batch(calls: (string | object)[], options?: TurnOptions): Promise<ToolMessage[]>;
  /** Run the calls in what a model has said, whole or as a stream, and return the messages to append. */
  run<T = any>(response: unknown, options?: RunOptions): Promise<T[]>;
  stream(name: string, args?: Sent, options?: StreamOptions): AsyncGenerator<CallEvent, void>;
  stream(call: object | object[], args?: null, options?: StreamOptions): AsyncGenerator<CallEvent, void>;
  /** Have a call remembered and run, without waiting for it. */
  job(name: string, args?: Sent, options?: JobOptions): Promise<Job>;
  job(call: object, args?: null, options?: JobOptions): Promise<Job>;
  /** Take up a remembered call by its id. */
  findJob(id: string): Job;
  /** Return the tools for the Vercel AI SDK. */
  aiTools(options?: AiOptions): Promise<Record<string, any>>;
}

/** What goes with all calls of tools; what a call says itself goes before. */
export interface ToolOptions {
  state?: unknown;
  context?: Sent | undefined;
  /** The conversation whose files the calls have. */
  conversation?: string | undefined;
  ask?: AskPerson | undefined;
  /** How many seconds to wait for somebody else's decision (0). */
  approvalWait?: number | undefined;
  timeout?: number | undefined;
  onProgress?: ((progress: Progress) => void | Promise<void>) | undefined;
  onPartial?: ((part: PartialAnswer) => void | Promise<void>) | undefined;
}

export interface ToolCallOptions extends ToolOptions {
  /** The id that the model has given the call. */
  id?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Sent again with the same key, the call runs once. */
  key?: string | undefined;
}

/** The answer to a call, failed ones and those that wait for a person too. */
export class ToolAnswer implements ToolMessage {
  private constructor();
  readonly content: string | (string | Json)[];
  readonly artifact: unknown;
  readonly tool_call_id: string;
  readonly name: string | null;
  readonly status: "success" | "error";
  readonly type: "tool";
  readonly id: string | null;
  readonly additional_kwargs: Json;
  readonly response_metadata: Json & { error?: Failure };
  /** Why the call failed; its `kind` is `approval_required` where it waits for a person. */
  readonly error: Failure | null;
  /** What a person has to decide. */
  readonly approval: Approval | null;
  /** What the model reads, as one text. */
  readonly text: string;
  /** The nine keys of LangChain's ToolMessage. */
  readonly message: ToolMessage;
}

/** A tool of a server, for any framework. */
export class ServedTool {
  private constructor();
  readonly name: string;
  readonly description: string;
  /** A JSON Schema, with its references in their places unless a type refers to itself. */
  readonly parameters: Json;
  /** Whether some calls may wait for a person before they run. */
  readonly mayAsk: boolean;
  call(args?: Sent, options?: ToolCallOptions): Promise<ToolAnswer>;
  /** Return whether a person has to decide about a call first; nothing runs. */
  needsApproval(args?: Sent, options?: Pick<ToolOptions, "state" | "context" | "conversation">): Promise<boolean>;
}

/** Return the tools of a server as plain objects, for any framework. */
export function loadTools(server: Sidecall, options?: ToolOptions & { filters?: ToolFilters | undefined }): Promise<ServedTool[]>;

/** What tools of frameworks throw for a failed call. */
export class ToolCallFailed extends Error {
  readonly answer: ToolAnswer;
  readonly kind: string | undefined;
}

/** A value, or a function of what a framework says about a call. */
export type OfCall<T, About> = T | ((about: About) => T);

/** What the adapters of frameworks take. */
export interface AdapterOptions<About> {
  state?: OfCall<unknown, About> | undefined;
  context?: OfCall<Sent | undefined, About> | undefined;
  conversation?: OfCall<string | undefined, About> | undefined;
  filters?: ToolFilters | undefined;
  /** Decides in the place of what the framework has for that. */
  ask?: AskPerson | undefined;
  approvalWait?: number | undefined;
  timeout?: number | undefined;
}

/** A remembered call. */
export class Job {
  readonly id: string;
  /** Show how it stands, as soon as it has ended or after so many whole seconds. */
  show(wait?: number, signal?: AbortSignal): Promise<JobState>;
  /** Show how it stands as soon as it has ended, or after so many seconds; `message` is its answer. */
  wait(seconds?: number, signal?: AbortSignal): Promise<JobState>;
  cancel(signal?: AbortSignal): Promise<JobState>;
}

export class ClientError extends Error {}
export class ServerUnreachable extends ClientError {}
export class UnknownAnswer extends ClientError {}
export class ApprovalNeeded extends ClientError {
  readonly approvals: Approval[];
  readonly turn?: Turn;
}
export class RequestRefused extends ClientError {
  readonly document: Json;
  readonly status: number;
  readonly slug: string;
  readonly detail: string;
  readonly errors: Json[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
}
export class RequestUnfit extends RequestRefused {}
export class NotAuthenticated extends RequestRefused {}
export class NotAllowed extends RequestRefused {}
export class NotThere extends RequestRefused {}
export class Conflicting extends RequestRefused {}
export class ServerBusy extends RequestRefused {}
export class ServerFailed extends RequestRefused {}
