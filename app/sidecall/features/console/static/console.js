// What every page has: keys that lead about, and words to its reader.

const notice = document.getElementById("notice");
let hiding = 0;

/** Say something to the reader for a while, also to one who listens. */
export function say(text) {
  clearTimeout(hiding);
  notice.textContent = text;
  hiding = setTimeout(() => {
    notice.textContent = "";
  }, 6000);
}

/** Return whether a key belongs to what is being filled in. */
function isTyping(event) {
  const where = event.target;
  return where.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(where.tagName);
}

/** Move the focus to another row of the list. */
function step(by) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((it) => it.getClientRects().length > 0);
  const next = rows.indexOf(document.activeElement) + by;
  rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
}

const ACTIONS = {
  "/": () => document.querySelector("[data-find]")?.focus(),
  "?": async () => (await import("./keys.js")).showKeys(),
  j: () => step(1),
  k: () => step(-1),
};
let isLed = false;

/** Let keys lead about again after something was filled in. */
function leave(event) {
  if (event.key === "Escape" && isTyping(event)) event.target.blur();
}

document.addEventListener("keydown", leave);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector("dialog[open]"))
    return;
  const link = isLed && document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
  isLed = event.key === "g";
  const act = link ? () => link.click() : ACTIONS[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

const EVERY_COUNT = 15_000;
let isWatched = false;

/** Show from now on how many calls wait for a person. */
async function watchWaiting() {
  if (isWatched) return;
  isWatched = true;
  try {
    (await import("./waits.js")).watchCount(EVERY_COUNT);
  } catch {
    isWatched = false; // The server is away.
  }
}

// The page itself says how many there were; the list of what waits looks itself.
if (document.querySelector("nav a[data-waits]") !== null && document.querySelector("[data-looks]") === null) {
  setTimeout(watchWaiting, EVERY_COUNT);
  document.addEventListener("visibilitychange", watchWaiting);
}
