// Whether a model was cut off in the middle of what it says, so that the last of its calls is only a part of one.

// What providers say of such an end, by its name; null is what a stream leaves that broke off.
const CUT_OFF = {
  finish_reason: new Set(["length", "model_length", "content_filter", "error", null]),
  stop_reason: new Set(["max_tokens", "model_context_window_exceeded", "refusal", null]),
  finishReason: new Set(["MAX_TOKENS", null]),
  done_reason: new Set(["length"]),
  status: new Set(["incomplete", "failed", "cancelled", "in_progress", "budget_exceeded"]),
};

/** Return whether an answer says under this name that it was cut off. */
export function isCutOff(answer, name) {
  return CUT_OFF[name].has(answer[name]);
}

/** Return the calls in what a model has said; of a last one that was cut off the server tells the model. */
export function chooseCalls(said, isCall, cutOff) {
  return said.filter(isCall).map((call) => (cutOff && call === said.at(-1) ? markHalf(call) : call));
}

/** Return a call that says of itself that it is only a part of one. */
export function markHalf(call) {
  return { ...call, status: "incomplete" };
}
