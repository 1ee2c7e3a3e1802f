// What the page of a tool gives to take along: a call as text, and the tool's definition in the form of each model.

import { address, ask, explain } from "./api.js";
import { say } from "./console.js";
import { it, make, makeButton } from "./dom.js";
import { makeCall, makeLink } from "./form_submission.js";
import { stringify } from "./json.js";
import { writeSnippet } from "./snippets.js";

// Characters of JSON to a token, as a rule of thumb.
const PER_TOKEN = 4;
const COPIES = { curl: "curl", python: "Python", javascript: "JavaScript", link: "Link with these arguments" };

/** Show a text to be copied, and copy it where that is allowed. */
export async function offer(text) {
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

/** Write a call as text of a kind. */
export function writeCall(kind, call, hasKeys) {
  return writeSnippet(kind, new URL(address("tool_calls"), location.href).href, call, hasKeys);
}

/** Offer the call for a shell, as a program, and as a link. */
export function listCopies(args) {
  if (it("copied") !== null) return;
  const buttons = Object.entries(COPIES).map(([kind, name]) => makeButton(name, name, () => copy(args, kind)));
  const names = { id: "copied", class: "code", "aria-label": "What is copied" };
  const shown = make("textarea", { ...names, readonly: true, hidden: true });
  it("copying").append(make("div", { class: "line" }, ...buttons), shown);
}

async function copy(args, kind) {
  const body = makeCall(args);
  if (body === null) return;
  await offer(kind === "link" ? await makeLink(args) : writeCall(kind, body, args.told.hasKeys));
}

/** Show the definition in the form that a link names. */
export async function define(args, link) {
  const path = `tools?name=${encodeURIComponent(args.told.name)}&format=${link.dataset.form}`;
  const found = await ask(path).catch(explain);
  const box = it("definition");
  box.querySelector("pre").hidden = false;
  box.querySelector("pre").textContent = typeof found === "string" ? found : stringify(found, 2);
  it("tokens").textContent = `About ${Math.floor(stringify(found).replace(/\s/g, "").length / PER_TOKEN)} tokens.`;
  for (const other of box.querySelectorAll("[data-form]")) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
}
