// How many calls wait for a person: in the navigation and in the title of each page, while somebody can see it.

import { send } from "./api.js";
import { make } from "./dom.js";

const EVERY = 5_000;
const link = document.querySelector("nav a[data-waits]");

/** Look again and again, but only while somebody can see the page. */
export function watch(look, every = EVERY) {
  const seen = () => document.hidden || look();
  setInterval(seen, every);
  document.addEventListener("visibilitychange", seen);
}

/** Show how many wait. */
export function showCount(count) {
  if (link === null || link.dataset.waits === String(count)) return;
  link.dataset.waits = count;
  link.querySelector(".count")?.remove();
  const words = make("span", { class: "off" }, " waiting");
  if (count > 0) link.append(" ", make("span", { class: "count", "data-waiting": true }, String(count), words));
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = count > 0 ? `(${count}) ${title}` : title;
}

/** Ask for what waits: `total` is how many match on all pages, `text` the JSON of the first ones. */
export async function count(query = "status=pending&limit=1") {
  const response = await send(`approvals?${query}`);
  return { total: Number(response.headers.get("X-Total-Count")), text: await response.text() };
}

/** Show again and again how many wait. */
export function watchCount(every) {
  const look = async () => {
    const found = await count().catch(() => null); // The next look may succeed.
    if (found !== null) showCount(found.total);
  };
  look();
  watch(look, every);
}
