// Say that more calls wait by now, without moving the list under its reader's eyes, and to one who looks elsewhere.

import { make } from "./dom.js";
import { parse } from "./json.js";
import { count, showCount, watch } from "./waits.js";

// A page that nobody sees looks only for those who want to be told, and seldom.
const EVERY_HIDDEN = 60_000;
const known = new Set([...document.querySelectorAll("[data-row]")].map((row) => row.pathname.split("/").pop()));
const told = new Set(known);
const fresh = document.getElementById("fresh");
const tell = document.getElementById("tell");
const several = document.getElementById("several");
const query = new URLSearchParams(location.search);
const isAll = ["tool", "requested_by", "conversation", "trace_id", "request_id"].every((name) => !query.get(name));
query.set("status", "pending");
query.delete("cursor");
for (const [name, value] of [...query]) if (value === "") query.delete(name);

function wantsNotice() {
  return "Notification" in window && Notification.permission === "granted";
}

/** Look for new ones. */
async function look() {
  try {
    const { total, text } = await count(query);
    const found = parse(text).filter((it) => !known.has(it.id));
    if (isAll) showCount(total);
    fresh.hidden = found.length === 0;
    const words = `${found.length} new approval${found.length === 1 ? "" : "s"} — show`;
    if (found.length > 0 && fresh.textContent !== words)
      fresh.replaceChildren(make("a", { href: location.href }, words));
    notify(found.filter((it) => !told.has(it.id)));
  } catch {
    // The next look may succeed.
  }
}

/** Have the browser say what is new to a reader who looks elsewhere. */
function notify(found) {
  for (const it of found) told.add(it.id);
  if (found.length === 0 || document.hasFocus() || !wantsNotice()) return;
  const title = found.length === 1 ? `${found[0].tool_call.name} waits for a person` : `${found.length} calls wait`;
  try {
    // Of several pages that are open, each of which tells it, one notice is left.
    const notice = new Notification(title, { body: `Asked by ${found[0].requested_by}`, tag: "sidecall-approvals" });
    notice.addEventListener("click", () => {
      window.focus();
      location.reload();
    });
  } catch {
    // Some telephones have no such notices.
  }
}

function showTell() {
  tell.hidden = !("Notification" in window) || Notification.permission !== "default";
}

watch(look);
setInterval(() => document.hidden && wantsNotice() && look(), EVERY_HIDDEN);
tell.addEventListener("click", async () => {
  await Notification.requestPermission();
  showTell();
});
showTell();
if (several !== null) {
  several.hidden = false;
  several.addEventListener("click", async () => (await import("./rejecting.js")).chooseSeveral(several));
}
