// The types of `sidecall/langchain`.

import type { RunnableConfig } from "@langchain/core/runnables";
import type { DynamicStructuredTool } from "@langchain/core/tools";

import type { AdapterOptions, Sidecall } from "./index.js";

/** Return the tools: `createAgent({ model, tools: await loadTools(server) })`. */
export function loadTools(server: Sidecall, options?: AdapterOptions<RunnableConfig>): Promise<DynamicStructuredTool[]>;
