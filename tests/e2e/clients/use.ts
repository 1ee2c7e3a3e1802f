// What a program in TypeScript does with a client made from the document: it must compile, and print what is expected.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Schemas = components["schemas"];
type Call = paths["/tool_calls"]["post"]["requestBody"]["content"]["application/json"];
type Answer = paths["/tool_calls"]["post"]["responses"][200]["content"]["application/json"];

declare const process: { env: Record<string, string | undefined> };
const client = createClient<paths>({ baseUrl: process.env["SIDECALL_URL"] ?? "" });
const say = (...words: unknown[]): void => console.log(JSON.stringify(words));

const args = { expression: "6 * 7" };
const text = JSON.stringify(args);
const calls: Call[] = [
  { name: "calculator", args, id: "1", type: "tool_call" },
  { name: "calculator", args },
  { id: "2", type: "function", function: { name: "calculator", arguments: text } },
  { type: "function_call", call_id: "3", name: "calculator", arguments: text },
  { type: "tool_use", id: "4", name: "calculator", input: args },
  { functionCall: { id: "5", name: "calculator", args } },
  { name: "calculator", args, state: { user: "ada" }, context: { tenant: "acme" } },
];

// Each answer is known by its constants, and nothing is left over.
function tell(answer: Answer): unknown[] {
  if ("would_run" in answer) return ["dry run", answer.would_run, answer.requires_approval];
  if ("functionResponse" in answer) return ["gemini", answer.functionResponse.id, answer.functionResponse.response];
  if ("role" in answer) return [answer.role, answer.tool_call_id, answer.content];
  switch (answer.type) {
    case "tool": {
      const message: Required<Schemas["ToolMessage"]> = answer; // all nine keys
      const status: "success" | "error" = message.status;
      return [message.type, status, message.name, message.content];
    }
    case "function_call_output":
      return [answer.type, answer.call_id, answer.output];
    case "tool_result":
      return [answer.type, answer.tool_use_id, answer.content, answer.is_error];
    case "tool_search_output":
      return [answer.type, answer.call_id, answer.tools];
    default:
      return [answer.type];
  }
}

for (const body of calls) {
  const { data, response } = await client.POST("/tool_calls", { body });
  if (data === undefined || "tool_call" in data || "is_durable" in data) throw new Error(`answered with ${response.status}`);
  say(...tell(data));
}

const dry = await client.POST("/tool_calls", {
  body: { name: "delete_order", args: { order: 7 } },
  params: { query: { dry_run: true, format: "langchain", timeout: 5 } },
});
if (dry.data && !("tool_call" in dry.data || "is_durable" in dry.data)) say(...tell(dry.data));

const turn = await client.POST("/tool_calls/batch", { body: calls.slice(0, 3) });
say("batch", turn.data?.length);
const shared = await client.POST("/tool_calls/batch", {
  body: { calls: calls.slice(0, 2), state: { user: "ada" }, context: { tenant: "acme" } },
  params: { query: { format: "anthropic" } },
});
say("batch with state", shared.data?.map((answer) => tell(answer)[0]));

const wrong = await client.POST("/tool_calls", { body: { name: "calculator", args: {} }, params: { query: { timeout: -1 } } });
if (wrong.error) {
  const problem: Schemas["Problem"] = wrong.error;
  say(problem.type, problem.status);
}

const asked = await client.POST("/tool_calls", { body: { name: "delete_order", args: { order: 7 }, id: "6" } });
if (asked.response.status === 202 && asked.data && "tool_call" in asked.data) {
  const approval: Schemas["Approval"] = asked.data;
  const path = { approval_id: approval.id };
  const status: "pending" | "approved" | "rejected" | "expired" | "cancelled" = approval.status;
  say(status, approval.tool_call.args, approval.message);
  const listed = await client.GET("/approvals", { params: { query: { status: "pending", limit: 10 } } });
  say("waiting", listed.data?.length);
  const decided = await client.POST("/approvals/{approval_id}", {
    params: { path, query: { format: "openai" } },
    body: { decision: "approve", args: { order: 8 } },
  });
  say(decided.data?.status, decided.data?.message && tell(decided.data.message));
  const later = await client.GET("/approvals/{approval_id}", { params: { path } });
  say(later.data?.decided_by, later.data?.message && tell(later.data.message)[0]);
}

const anthropic = await client.GET("/tools", { params: { query: { format: "anthropic", name: ["calculator"] } } });
say(anthropic.data?.map((tool) => tool["name"]));
const detail = await client.GET("/tools/{name}", { params: { path: { name: "delete_order" } } });
say(detail.data?.requires_approval, detail.data?.timeout);
const missing = await client.GET("/tools/{name}", { params: { path: { name: "calculatr" } } });
say(missing.error?.status);
const ready = await client.GET("/readyz");
say(ready.data?.status);
