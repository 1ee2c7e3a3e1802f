// The page of one call: follow it to its end, cancel it, send it again, copy it.

import { address, ask, explain, Refusal, send } from "./api.js";
import { showDifferences } from "./differences.js";
import { it, makeButton } from "./dom.js";
import { readEvents } from "./events.js";
import { parse } from "./json.js";
import { showText, showTree } from "./tree.js";

const told = parse(it("call-data").textContent);
const PAUSE = 2_000;
const wait = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

function showProgress({ done, total, message }) {
  const bar = it("progress-bar");
  if (total === null || total === undefined) bar.removeAttribute("value");
  else Object.assign(bar, { max: Number(total), value: Number(done) });
  it("progress-text").textContent = [message, total ? `${done} of ${total}` : `${done}`].filter(Boolean).join(" · ");
}

/** Follow a remembered call by its events; returns once it has ended. */
async function followEvents() {
  const response = await send(`tool_calls/${told.id}/events`, { headers: { Accept: "text/event-stream" } });
  for await (const { event, data } of readEvents(response)) {
    if (event === "progress") showProgress(parse(data));
    if (event === "message") return true;
  }
  return false;
}

/** Look once at a call; returns whether it has ended. */
async function look() {
  const entry = await ask(`tool_calls/${told.id}`);
  if (entry.progress) showProgress(entry.progress);
  return entry.ended_at !== null;
}

/** Follow the call to its end, while somebody can see it, and then show it as it ended. */
async function follow() {
  for (;;) {
    try {
      const isSeen = !document.hidden;
      if (isSeen && !told.isPlain && (await followEvents())) break;
      if (isSeen && (await look())) break;
    } catch (error) {
      if (error instanceof Refusal && error.status < 500) {
        it("state").textContent = error.status === 404 ? "The call has ended, and is not kept." : explain(error);
        return;
      }
      it("state").textContent = "The server cannot be reached; the call is looked for again.";
    }
    await wait(told.isPlain ? PAUSE / 4 : PAUSE);
  }
  location.reload();
}

async function cancel() {
  it("cancel").disabled = true;
  it("state").textContent = "It is being cancelled.";
  try {
    const entry = await ask(`tool_calls/${told.id}/cancel`, { method: "POST" });
    it("state").textContent = entry.ended_at === null ? "It was told to end." : "It is cancelled.";
    if (entry.ended_at !== null) location.reload();
  } catch (error) {
    it("cancel").disabled = false;
    it("state").textContent = explain(error);
  }
}

async function replay() {
  it("asking").hidden = true;
  it("replay").disabled = true;
  it("state").textContent = "It is sent again, as a call of yours.";
  try {
    const again = await ask(`tool_calls/${told.id}/replay`, { method: "POST", body: { insist: true } });
    const waits = again.tool_call !== undefined;
    location.assign(address(`console/${waits ? "approvals" : "calls"}/${encodeURIComponent(again.id)}`));
  } catch (error) {
    it("state").textContent = explain(error);
    it("replay").disabled = false;
  }
}

/** Ask before a call is repeated that may do twice what it should do once. */
function askFirst() {
  if (told.mayRepeat) return replay();
  const yes = makeButton("Send it again", "Send it again", replay, "danger");
  const no = makeButton("Leave it", "Leave it", () => {
    it("asking").hidden = true;
    it("replay").focus();
  });
  const words = `${told.name} may do twice what it should do once. It would run as you, with your secrets and quota. `;
  it("asking").replaceChildren(words, yes, " ", no);
  it("asking").hidden = false;
  yes.focus();
  return undefined;
}

async function copyCurl() {
  const { offer, writeCall } = await import("./offering.js");
  await offer(writeCall("curl", { type: "tool_call", name: told.name, args: told.args }, told.hasKeys));
}

async function copyLink() {
  const { offer } = await import("./offering.js");
  await offer(location.href);
}

/** Show the answer as a tree when that is first opened. */
function showAsTree() {
  const box = it("tree").querySelector("div");
  if (box.childElementCount > 0) return;
  const show = typeof told.content === "string" ? showText : showTree;
  box.append(show(told.content, { name: "answer" }));
}

const ACTIONS = {
  cancel,
  replay: askFirst,
  "copy-curl": copyCurl,
  "copy-link": copyLink,
};
for (const [id, act] of Object.entries(ACTIONS)) {
  if (it(id) === null) continue;
  it(id).hidden = false;
  it(id).addEventListener("click", act);
}
if (told.asked !== null) it("differences").append(showDifferences(told.asked, told.args, { was: "sent", is: "ran" }));
const isData = told.content !== null && (typeof told.content !== "string" || /^\s*[[{]/.test(told.content));
if (it("tree") !== null && isData) {
  it("tree").hidden = false;
  it("tree").addEventListener("toggle", showAsTree);
  it("tree").open = true;
  it("tree").nextElementSibling.open = false;
}
if (told.isOpen) follow();
