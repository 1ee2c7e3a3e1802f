// Say that more calls wait by now, without moving the list under its reader's eyes.

import { ask } from "./api.js";
import { make } from "./dom.js";

const EVERY = 5_000;
const known = new Set([...document.querySelectorAll("[data-row]")].map((row) => row.pathname.split("/").pop()));
const fresh = document.getElementById("fresh");

/** Look for new ones, while somebody can see it. */
async function look() {
  if (document.hidden) return;
  try {
    const query = new URLSearchParams(location.search);
    query.set("status", "pending");
    query.delete("cursor");
    const found = await ask(`approvals?${query}`);
    const count = found.filter((it) => !known.has(it.id)).length;
    fresh.hidden = count === 0;
    const text = `${count} new approval${count === 1 ? "" : "s"} — show`;
    if (count > 0 && fresh.textContent !== text) fresh.replaceChildren(make("a", { href: location.href }, text));
  } catch {
    // The next look may succeed.
  }
}

setInterval(look, EVERY);
document.addEventListener("visibilitychange", look);
