// Ids for calls whose model gives them none, as of llama.cpp, Ollama and older vLLM, or one to several.

// Where an answer, or a message alone, has its calls.
const PLACES = {
  "openai": [(it) => it.choices?.[0]?.message?.tool_calls, (it) => it.tool_calls],
  "openai-responses": [(it) => it.output],
  "anthropic": [(it) => it.content],
};

/** Make the id of a call. */
export function makeId() {
  return `call_${globalThis.crypto.randomUUID().replaceAll("-", "")}`;
}

/** Write an id under this name into each call that has none of its own; return what stood there, by the new id. */
export function giveIds(calls, name) {
  const known = new Set();
  const made = new Map();
  for (const call of calls) {
    const sent = call[name];
    const isId = (typeof sent === "string" && sent !== "") || typeof sent === "number";
    if (!isId || known.has(sent)) {
      call[name] = makeId();
      made.set(call[name], sent);
    }
    known.add(call[name]);
  }
  return made;
}

/**
 * Write ids that were made into the answer itself, too, for programs that append its message and not what is returned; what
 * cannot be changed stays as it is. `said` are the items in which the calls stand, as they were read.
 */
export function writeIds(given, form, said, name, made) {
  if (made.size === 0) return;
  const found = PLACES[form].map((find) => find(given)).find(Array.isArray) ?? [];
  for (const [index, read] of said.entries()) {
    const item = found[index];
    if (item && made.has(read[name]) && !Object.isFrozen(item)) item[name] = read[name];
  }
}
