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
    schema.properties[source] = describe(source, entries, schema.$defs);
    if (entries.some((it) => it.required)) schema.required.push(source);
  }
  return makeForm(schema);
}

/** Return the schema of what comes from one source; of what is read in several ways, or deeper within it, any value. */
function describe(source, entries, defs) {
  const take = ({ $defs, ...rest }) => (Object.assign(defs, $defs), rest);
  if (entries.length === 1 && entries[0].path === source) return take(entries[0].schema ?? {});
  const found = entries.map((it) => ({ ...it, member: new RegExp(`^${source}\\.(\\w+)$`).exec(it.path)?.[1] }));
  if (found.length === 0 || found.some((it) => it.member === undefined)) return {};
  const described = { type: "object", properties: {}, required: [], additionalProperties: true };
  for (const { member, schema, required } of found) {
    described.properties[member] = take(schema ?? {});
    if (required) described.required.push(member);
  }
  return described;
}
