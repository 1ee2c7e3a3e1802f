// The keys of all pages, shown when a person asks for them.

import { make, useSheet } from "./dom.js";

const KEYS = [
  ["/", "find in a list"],
  ["j k", "next and previous row"],
  ["Ctrl Enter", "send what you fill in"],
  ["?", "these keys"],
];

/** Show which key does what. */
export function showKeys() {
  useSheet("keys.css");
  const pages = [...document.querySelectorAll("nav a[data-key]")];
  const led = pages.map((link) => [`g ${link.dataset.key}`, link.firstChild.textContent.trim()]);
  const rows = [...led, ...KEYS].flatMap(([keys, words]) => [
    make("dt", {}, ...keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])),
    make("dd", {}, words),
  ]);
  const close = make("form", { method: "dialog" }, make("button", {}, "Close"));
  const title = make("h2", { id: "keys-title" }, "Keys");
  const box = make("dialog", { "aria-labelledby": "keys-title" }, title, make("dl", { class: "facts" }, ...rows), close);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}
