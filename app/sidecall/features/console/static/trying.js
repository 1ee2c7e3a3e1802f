// Calls of a tool from its page: it is called, checked and run as a job, and its answer stands beside the form.

import { address, ask, explain, Refusal, send } from "./api.js";
import { showCheck, showFailure, showMessage, showWaiting } from "./answers.js";
import { say } from "./console.js";
import { it } from "./dom.js";
import { readEvents } from "./events.js";
import { makeCall, showErrors } from "./form_submission.js";
import { parse } from "./json.js";

// What runs now: how it is cancelled; null while nothing does.
let running = null;

/** Show how far a call is. */
function showProgress({ done, total, message }) {
  const bar = it("progress-bar");
  it("progress").hidden = false;
  if (total === null || total === undefined) bar.removeAttribute("value");
  else Object.assign(bar, { max: Number(total), value: Number(done) });
  const share = total ? `${Math.round((100 * Number(done)) / Number(total))} %` : `${done}`;
  it("progress-text").textContent = [message, share].filter(Boolean).join(" · ");
}

function show(element, words) {
  it("answer").replaceChildren(element);
  it("state").textContent = words;
}

/** Show the answer of a tool; what is wrong with an argument is said at its field. */
function showAnswer(args, message) {
  const errors = message.response_metadata?.error?.errors ?? [];
  showErrors(args, errors.map((error) => ({ path: error.loc, message: error.msg })));
  show(
    showMessage(message),
    message.status === "error" ? "The tool answered with an error." : "The tool has answered.",
  );
  if (errors.length > 0) args.focus();
}

/** Take one event of a call; returns whether it was the last. */
function take(args, { event, data }) {
  const value = parse(data);
  if (event === "progress") showProgress(value);
  else if (event === "partial") it("answer").append(`${typeof value.content === "string" ? value.content : data}\n`);
  else if (event === "approval") show(showWaiting(value), "The call waits for a person.");
  else if (event === "message") showAnswer(args, value);
  else if (event === "problem" || event === "error") throw new Refusal(value.status ?? 500, value);
  return event === "message" || event === "approval";
}

/** Do something with the page marked as busy; what goes wrong is shown. */
async function work(args, words, cancel, act) {
  if (running !== null) return;
  running = cancel;
  it("state").textContent = words;
  it("answer").replaceChildren();
  showErrors(args, []);
  for (const id of ["send", "check", "background"]) it(id).disabled = true;
  it("cancel").hidden = false;
  try {
    await act();
  } catch (error) {
    if (error.name === "AbortError") it("state").textContent = explain(error);
    else show(showFailure(error), explain(error));
  }
  running = null;
  for (const id of ["send", "check", "background"]) it(id).disabled = false;
  it("cancel").hidden = true;
  it("progress").hidden = true;
}

/** Call the tool, and show what comes of it piece by piece. */
export function call(args) {
  const body = makeCall(args);
  if (body === null) return;
  const stop = new AbortController();
  work(
    args,
    "The call runs.",
    () => stop.abort(),
    async () => {
      const options = { method: "POST", body, headers: { Accept: "text/event-stream" }, signal: stop.signal };
      let isOver = false;
      for await (const event of readEvents(await send("tool_calls", options))) isOver = take(args, event) || isOver;
      if (!isOver) throw new TypeError("The connection has ended.");
    },
  );
}

/** Ask what would run, without running it. */
export function check(args) {
  const body = makeCall(args);
  if (body === null) return;
  const stop = new AbortController();
  work(
    args,
    "It is checked.",
    () => stop.abort(),
    async () => {
      const found = await ask("tool_calls?dry_run=true", { method: "POST", body, signal: stop.signal });
      if (!("would_run" in found)) return showAnswer(args, found);
      show(showCheck(found), found.would_run ? "It would run." : "It would not run.");
      const errors = found.message?.response_metadata?.error?.errors ?? [];
      showErrors(args, errors.map((error) => ({ path: error.loc, message: error.msg })));
      return undefined;
    },
  );
}

/** Follow a job to its end, also over a connection that breaks. */
async function follow(args, id) {
  let last = "0";
  for (let tries = 0; tries < 60; tries += 1) {
    try {
      const options = { headers: { Accept: "text/event-stream", "Last-Event-ID": last } };
      for await (const event of readEvents(await send(`tool_calls/${id}/events`, options))) {
        last = event.id ?? last;
        tries = 0;
        if (take(args, event)) return;
      }
    } catch (error) {
      if (error instanceof Refusal && error.status < 500) throw error;
    }
    it("state").textContent = "The connection has ended; the job is looked for again.";
    await new Promise((done) => {
      setTimeout(done, 1000);
    });
  }
  throw new TypeError("The job cannot be reached.");
}

/** Run the tool as a job, and follow it to its end. */
export function runAsJob(args) {
  const body = makeCall(args);
  if (body === null) return;
  let id = null;
  const cancel = async () => {
    if (id !== null) await ask(`tool_calls/${id}/cancel`, { method: "POST" });
  };
  work(args, "The job runs.", cancel, async () => {
    const entry = await ask("tool_calls", { method: "POST", body, headers: { Prefer: "respond-async" } });
    if (entry.tool_call_id === undefined) return show(showWaiting(entry), "The call waits for a person.");
    if (entry.type === "tool") return showAnswer(args, entry);
    id = entry.id;
    const link = Object.assign(document.createElement("a"), {
      href: address(`console/calls/${id}`),
      textContent: "The job's own page",
    });
    it("job").replaceChildren(link);
    await follow(args, id);
    return undefined;
  });
}

/** Cancel what runs. */
export async function cancel() {
  it("state").textContent = "It is being cancelled.";
  try {
    await running?.();
  } catch (error) {
    say(explain(error));
  }
}
