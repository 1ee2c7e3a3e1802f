// The types say what the server's document says, and what programs write with them compiles.

import {
  ApprovalNeeded,
  Sidecall,
  loadTools,
  type Approval,
  type ClientOptions,
  type JobState,
  type Preview,
  type Progress,
  type ToolAnswer,
  type ToolMessage,
} from "sidecall";

import type { components } from "./api.js";

type Schemas = components["schemas"];

export function agree(
  message: Schemas["ToolMessage"],
  approval: Schemas["Approval"],
  plan: Schemas["DryRun"],
  entry: Schemas["CallEntry"],
): void {
  const ours: Pick<ToolMessage, "content" | "tool_call_id" | "name" | "id" | "additional_kwargs"> = message;
  const waiting: Pick<Approval, "id" | "description" | "preview" | "reason"> = approval;
  const planned: Pick<Preview, "would_run" | "name" | "args" | "requires_approval" | "preview"> = plan;
  const status: ToolMessage["status"] = message.status;
  const decided: Approval["status"] = approval.status;
  const standing: Pick<JobState, "id" | "name" | "status" | "tool_call_id" | "kind" | "approval_id"> = entry;
  const ends: Schemas["CallEntry"]["status"] = standing.status;
  console.log(ours, waiting, planned, status, decided, ends);
}

interface Order {
  number: number;
  note?: string;
}

class Person {
  constructor(readonly user: string) {}
}

/** What the README shows, and values of one's own types. */
export async function useOwnTypes(order: Order): Promise<unknown[]> {
  const ways: ClientOptions[] = [{ apiKey: "a" }, { apiKey: () => "a" }, { apiKey: async () => "a" }, { token: async () => "a" }];
  const server = new Sidecall(undefined, ways[0]);
  const answer = await server.call("double", order, { context: new Person("Ada"), state: order });
  const job = await server.job("double", order);
  const state: JobState = await job.wait(5);
  const content: string | (string | Record<string, unknown>)[] | undefined = state.message?.content;
  const words = [(await job.show()).status === "succeeded", (await job.cancel()).kind, state.message?.response_metadata.error?.kind];
  await server.preview("double", order);
  await server.preview("double", { number: 12345678901234567890n });
  await server.approvals.approve("a", { args: order });
  for await (const event of server.stream("double", order)) console.log(event.event);
  await server.aiTools({ context: new Person("Ada") });
  await server.aiTools({ state: ({ toolCallId, messages }) => ({ toolCallId, count: messages.length }), filters: { tags: ["web"] } });
  // @ts-expect-error  arguments are an object
  await server.call("double", 4);
  // @ts-expect-error  a key is a text
  new Sidecall(undefined, { apiKey: 4 });
  return [answer, content, words];
}

/** Options may be there without a value. */
export async function useWhatMayBeMissing(key?: string, args?: Order, signal?: AbortSignal): Promise<string | undefined> {
  const server = new Sidecall(new URL("http://127.0.0.1:8000"), { apiKey: key, headers: undefined, fetch: undefined });
  await server.call("double", args, { key, signal, timeout: undefined, ask: () => {} });
  await server.preview("double", args, { signal, context: args });
  await server.tools("openai", { toolset: key, signal });
  const approval = await server.approvals.approve("a", { args, reason: key });
  return approval.sign_in?.url;
}

export async function use(): Promise<string | undefined> {
  const server = new Sidecall("http://127.0.0.1:8000", { apiKey: "key", retries: 2, makesKeys: true });
  const tools = await server.tools<{ name: string }>("anthropic", { tags: ["web"], strict: true });
  const answer = await server.call("double", { number: 4 }, { key: "1", timeout: 5, ask: async () => true });
  const messages = await server.run({ choices: [] }, { answersOnly: true, state: { user: "Ada" } });
  for await (const event of server.stream("write", { text: "a b" })) {
    if (event.event === "progress") console.log(event.data.done, event.data.total ?? 1);
    if (event.event === "message") console.log(event.data.response_metadata.error?.kind);
  }
  try {
    await server.batch(["double", { name: "double", args: {} }]);
  } catch (error) {
    if (error instanceof ApprovalNeeded) console.log(error.approvals[0]?.tool_call.args, error.turn?.calls);
  }
  const ai = await server.aiTools({ context: ({ toolCallId }) => ({ call: toolCallId }) });
  // @ts-expect-error  an option that does nothing
  await server.call("double", {}, { stat: 1 });
  // @ts-expect-error  arguments beside a call
  await server.call({ name: "double" }, { number: 4 });
  console.log(messages.length, Object.keys(ai), tools[0]?.name);
  return typeof answer.content === "string" ? answer.content : undefined;
}

/** Tools for any framework, whose answers and progress have types. */
export async function useTools(signal?: AbortSignal): Promise<string> {
  const [tool] = await loadTools(new Sidecall(), { context: { user: "Ada" }, filters: { names: ["write"] }, timeout: undefined });
  const told: Progress[] = [];
  const answer: ToolAnswer = await tool!.call({ text: "a" }, { id: "1", signal, onProgress: (it) => void told.push(it) });
  const failure: string | undefined = answer.error?.kind ?? answer.approval?.id;
  // @ts-expect-error  an option that does nothing
  await tool!.call({}, { name: "write" });
  return `${tool!.name} ${told[0]?.done} ${failure} ${answer.text}`;
}
