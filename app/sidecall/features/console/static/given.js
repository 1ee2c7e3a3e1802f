// What the caller's program would send beside the arguments: the state and the context that a tool reads.

import { makeForm } from "./form/form.js";

/** Make the form of it. */
export function makeGiven(told) {
  const sources = ["state", "context"].filter(
    (source) => told.given.some((it) => it.from === source) || (source === "state" && told.readsState),
  );
  const schema = { type: "object", properties: {}, required: [], $defs: {}, additionalProperties: false };
  for (const source of sources) {
    const entries = told.given.filter((it) => it.from === source);
    schema.properties[source] = describe(entries, schema.$defs);
    if (entries.some((it) => it.required)) schema.required.push(source);
  }
  return makeForm(schema);
}

function describe(entries, defs) {
  const isPlain = entries.length > 0 && entries.every((it) => typeof it.path === "string" && /^\w+$/.test(it.path));
  if (!isPlain) return {};
  const described = { type: "object", properties: {}, required: [], additionalProperties: true };
  for (const { path, schema, required } of entries) {
    const { $defs, ...rest } = schema ?? {};
    Object.assign(defs, $defs);
    described.properties[path] = rest;
    if (required) described.required.push(path);
  }
  return described;
}
