// The page of a tool: a form for its arguments, and what is done with them, which comes when it is first wanted.

import { address, ask, explain } from "./api.js";
import { Arguments } from "./arguments.js";
import { say } from "./console.js";
import { parse } from "./json.js";
import { writeSnippet } from "./snippets.js";

const it = (id) => document.getElementById(id);
const told = parse(it("tool-data").textContent);
const args = new Arguments(told);

/** Do something with the arguments. */
async function act(name) {
  try {
    const trying = await import("./trying.js");
    await trying[name](args);
  } catch (error) {
    it("state").textContent = explain(error);
  }
}

/** Copy the call for a shell, as a program, or as a link. */
async function copy(kind) {
  const body = args.makeCall();
  if (body === null) return;
  const isLink = kind === "link";
  const text = isLink
    ? args.makeLink()
    : writeSnippet(kind, new URL(address("tool_calls"), location.href).href, body, told.hasKeys);
  const shown = it("copied");
  shown.hidden = false;
  shown.value = text;
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    shown.select(); // Without https there is no clipboard.
    say("Press Ctrl+C to copy what is selected.");
  }
}

// It is fetched with the first sign of a person, so that nothing waits for it.
for (const sign of ["pointermove", "pointerdown", "keydown"])
  addEventListener(sign, () => import("./trying.js").catch(() => null), { once: true });
it("call").addEventListener("submit", (event) => {
  event.preventDefault();
  act("call");
});
it("check").addEventListener("click", () => act("check"));
it("background").addEventListener("click", () => act("runAsJob"));
it("cancel").addEventListener("click", () => act("cancel"));
it("clear").addEventListener("click", () => args.clear());
for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", () => copy(button.dataset.copy));
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && it("call").contains(event.target)) {
    event.preventDefault();
    it("call").requestSubmit();
  }
});
for (const link of document.querySelectorAll("[data-form]")) {
  link.addEventListener("click", async (event) => {
    event.preventDefault(); // What is filled in stays.
    const found = await ask(`tools?name=${encodeURIComponent(told.name)}&format=${link.dataset.form}`).catch(explain);
    it("definition").querySelector("pre").textContent = args.write(found);
    for (const other of document.querySelectorAll("[data-form]")) other.toggleAttribute("aria-current", other === link);
    if (link.hasAttribute("aria-current")) link.setAttribute("aria-current", "true");
  });
}
it("try").hidden = false;
if (matchMedia("(min-width: 900px)").matches && !location.hash.startsWith("#definition")) args.enter();
