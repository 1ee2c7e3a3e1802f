// Any JSON value as a tree that opens piece by piece, so that large and deep ones never block the page.

import { make, makeButton, useSheet } from "./dom.js";
import { parse, stringify, typeOf } from "./json.js";

const MOST_CHILDREN = 200;
const MOST_TEXT = 1_000;
const MOST_PARSED = 1_000_000;
const MOST_SHOWN = 256_000;
const MOST_PREVIEW = 80;
// Browsers take minutes for thousands of marks on one letter.
const MARKS = /(?<=[\u0300-\u036f]{8})[\u0300-\u036f]/g;

useSheet("answers.css");

/**
 * Show JSON text as a tree, and as plain text where it is none, is too long, or is nested too deeply for this browser.
 *
 * `name` is what the value is called; `open` says how many levels are open at first.
 */
export function showText(text, options = {}) {
  if (text.length > MOST_PARSED) return showPlain(text, `${count(text.length)} characters are too many for a tree.`);
  try {
    return showTree(parse(text), options);
  } catch (error) {
    return showPlain(
      text,
      error instanceof SyntaxError ? "This is not JSON." : "This is nested too deeply for a tree.",
    );
  }
}

/** Show a JSON value as a tree. */
export function showTree(value, { name = "value", open = 1 } = {}) {
  return make("div", { class: "tree", role: "group", "aria-label": name }, showNode(null, value, open));
}

/** Show a text as it is, cut where it is long, with a note that says so. */
export function showPlain(text, note = "") {
  const isCut = text.length > MOST_SHOWN;
  const cut = isCut ? `The first ${count(MOST_SHOWN)} of ${count(text.length)} characters are shown.` : "";
  const said = [note, cut].filter(Boolean).join(" ");
  const shown = cutText(text, MOST_SHOWN).replace(MARKS, (it) => `\\u0${it.charCodeAt(0).toString(16)}`);
  const body = make("pre", { tabindex: 0 }, shown);
  return make("div", { class: "tree" }, said === "" ? null : make("p", { class: "note" }, said), body);
}

function showNode(key, value, open) {
  const type = typeOf(value);
  const isNested = type === "array" || type === "object";
  if (!isNested) return make("div", { class: "leaf" }, showKey(key), showLeaf(value, type));
  return showNested(key, value, type, open);
}

function showKey(key) {
  return key === null ? null : make("span", { class: "key" }, `${typeof key === "number" ? key : sayKey(key)}: `);
}

function sayKey(key) {
  const shown = /^[\w-]+$/.test(key) ? key : stringify(key);
  return shown.length > 200 ? `${cutText(shown, 200)}…` : shown;
}

function showLeaf(value, type) {
  if (type !== "string") return make("span", { class: type }, stringify(value));
  const text = make("span", { class: "string" }, stringify(cutText(value, MOST_TEXT)));
  if (value.length <= MOST_TEXT) return text;
  return addWhole(text, value);
}

function addWhole(text, value) {
  const label = `Show all ${count(value.length)} characters`;
  const button = makeButton(label, label, () => {
    box.replaceChildren(showPlain(value));
    box.querySelector("pre").focus();
  });
  const box = make("span", {}, text, "… ", button);
  return box;
}

function showNested(key, value, type, open) {
  const names = type === "array" ? null : Object.keys(value);
  const size = names === null ? value.length : names.length;
  const brackets = type === "array" ? ["[", "]"] : ["{", "}"];
  if (size === 0) return make("div", { class: "leaf" }, showKey(key), make("span", { class: type }, brackets.join("")));
  const unit = type === "array" ? "item" : "key";
  const summary = make(
    "summary",
    {},
    showKey(key),
    make("span", { class: "size" }, `${brackets[0]} ${count(size)} ${unit}${size === 1 ? "" : "s"} ${brackets[1]} `),
  );
  summary.append(make("span", { class: "preview" }, preview(value, names)));
  const details = make("details", {}, summary);
  const grow = () => {
    if (details.open && details.children.length === 1) addChildren(details, value, names, 0, open - 1);
  };
  details.addEventListener("toggle", grow);
  if (open > 0) {
    details.open = true;
    grow();
  }
  return details;
}

/** What a closed part holds, as far as a line takes it, without looking into what is nested. */
function preview(value, names) {
  let line = "";
  for (const key of names ?? value.keys()) {
    const type = typeOf(value[key]);
    const text =
      { array: "[…]", object: "{…}" }[type] ??
      stringify(type === "string" ? cutText(value[key], MOST_PREVIEW) : value[key]);
    const next = names === null ? text : `${cutText(key, MOST_PREVIEW)}: ${text}`;
    line = line === "" ? next : `${line}, ${next}`;
    if (line.length > MOST_PREVIEW) return `${cutText(line, MOST_PREVIEW)}…`;
  }
  return line;
}

function addChildren(details, value, names, start, open) {
  const size = names === null ? value.length : names.length;
  const end = Math.min(start + MOST_CHILDREN, size);
  for (let index = start; index < end; index += 1) {
    const key = names === null ? index : names[index];
    details.append(showNode(key, value[key], open));
  }
  if (end < size) details.append(makeMore(details, value, names, end));
}

function makeMore(details, value, names, start) {
  const size = names === null ? value.length : names.length;
  const label = `Show ${count(Math.min(MOST_CHILDREN, size - start))} more of ${count(size - start)}`;
  const button = makeButton(label, label, () => {
    const last = button.previousElementSibling;
    button.remove();
    addChildren(details, value, names, start, 0);
    (last.nextElementSibling.querySelector("summary") ?? details.querySelector("summary")).focus();
  });
  return button;
}

/** Cut a text without leaving half of a character. */
export function cutText(text, most) {
  if (text.length <= most) return text;
  const isHalf = /[\ud800-\udbff]/.test(text[most - 1]);
  return text.slice(0, isHalf ? most - 1 : most);
}

function count(number) {
  return number.toLocaleString("en");
}
