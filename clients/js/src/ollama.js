// The form of Ollama's own API: its calls have no ids, its arguments are objects, and answers name the tool.

/** Return whether calls without ids have their arguments as objects, as in no answer of Chat Completions. */
export function isOfOllama(calls) {
  return Array.isArray(calls) && calls.length > 0 && calls.every(isPlain);
}

function isPlain(call) {
  const args = call?.function?.arguments;
  return !call?.id && args !== null && typeof args === "object" && !Array.isArray(args);
}

/** Write answers in the form of Chat Completions as Ollama takes them: with the tool's name. */
export function writeAnswers(answers, calls, made) {
  return answers.map(({ content }, index) => {
    const { id, function: called } = calls[index];
    const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
    const answer = { role: "tool", tool_name: called.name, content: text };
    return made.has(id) ? answer : { ...answer, tool_call_id: id };
  });
}

/** Join the chunks of an answer, each of which has calls as a whole. */
export function gatherOllama(chunks) {
  const message = { role: "assistant", content: "" };
  for (const [key, value] of chunks.flatMap((chunk) => Object.entries(chunk.message ?? {}))) {
    if (key === "tool_calls") message[key] = [...(message[key] ?? []), ...(value ?? [])];
    else if (key !== "role" && typeof value === "string") message[key] = (message[key] ?? "") + value;
  }
  const { done, done_reason } = chunks.at(-1);
  return { message, done, done_reason };
}
