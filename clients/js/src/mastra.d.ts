// The types of `sidecall/mastra`.

import type { Tool, ToolExecutionContext } from "@mastra/core/tools";

import type { AdapterOptions, Sidecall } from "./index.js";

/** Return the tools by their names: `new Agent({ ..., tools: await loadTools(server) })`. */
export function loadTools(server: Sidecall, options?: AdapterOptions<ToolExecutionContext>): Promise<Record<string, Tool<any, any>>>;
