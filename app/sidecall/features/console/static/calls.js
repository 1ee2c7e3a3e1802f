// Say that more calls have come by now, without moving the list under its reader's eyes.

import { ask } from "./api.js";
import { make } from "./dom.js";
import { watch } from "./waits.js";

const MOST = 100;
const known = new Set([...document.querySelectorAll("[data-call]")].map((row) => row.dataset.call));
const newest = [...known].sort().pop() ?? "";
const fresh = document.getElementById("fresh");
// What the page was asked for, as the API is; a span of time says nothing of what is new.
const query = new URLSearchParams(location.search);
for (const name of ["since", "cursor", "trail"]) query.delete(name);
for (const [name, value] of [...query]) if (value === "") query.delete(name);

/** Look for new ones. */
async function look() {
  try {
    const found = await ask(`tool_calls?${new URLSearchParams([...query, ["limit", MOST]])}`);
    const count = found.filter((it) => it.id > newest && !known.has(it.id)).length;
    fresh.hidden = count === 0;
    const text = `${count}${count === MOST ? " or more" : ""} new call${count === 1 ? "" : "s"} — show`;
    if (count > 0 && fresh.textContent !== text) fresh.replaceChildren(make("a", { href: location.href }, text));
  } catch {
    // The next look may succeed.
  }
}

watch(look);
