// What differs between two JSON values, as rows of a table: where, before, after.

import { make } from "./dom.js";
import { same, sayPath, stringify, typeOf } from "./json.js";
import { cutText } from "./tree.js";

const MOST_ROWS = 500;
const MOST_DEPTH = 200;
const MOST_LETTERS = 2_000;

/**
 * List the differences between two values: `[{path, kind, before, after}]`.
 *
 * `kind` is added, removed or changed; what was or is not there is left out of its row. Numbers differ if they are
 * written in another way. At most `most` are listed.
 */
export function listDifferences(before, after, most = MOST_ROWS) {
  const found = [];
  compare(before, after, [], found, most);
  return found;
}

function compare(before, after, path, found, most) {
  if (found.length >= most) return;
  const type = typeOf(before);
  const isNested = type === "object" || type === "array";
  if (type !== typeOf(after) || !isNested) {
    if (!same(before, after)) found.push({ path, kind: "changed", before, after });
  } else if (path.length >= MOST_DEPTH) {
    if (stringify(before) !== stringify(after)) found.push({ path, kind: "changed", before, after });
  } else {
    compareParts(before, after, path, found, most);
  }
}

function compareParts(before, after, path, found, most) {
  const keys = Array.isArray(before)
    ? Array.from({ length: Math.max(before.length, after.length) }, (_, index) => index)
    : [...new Set([...Object.keys(before), ...Object.keys(after)])];
  for (const key of keys) {
    if (found.length >= most) return;
    const place = [...path, key];
    if (!Object.hasOwn(before, key)) found.push({ path: place, kind: "added", after: after[key] });
    else if (!Object.hasOwn(after, key)) found.push({ path: place, kind: "removed", before: before[key] });
    else compare(before[key], after[key], place, found, most);
  }
}

/** Show the differences between two values as a table, or a sentence where there are none. */
export function showDifferences(before, after, { was = "before", is = "after" } = {}) {
  const found = listDifferences(before, after, MOST_ROWS + 1);
  if (found.length === 0) return make("p", { class: "differences" }, "Nothing differs.");
  const head = ["where", was, is].map((text) => make("th", { scope: "col" }, text));
  const rows = found.slice(0, MOST_ROWS).map(makeRow);
  const note = found.length > MOST_ROWS ? make("p", {}, `Only the first ${MOST_ROWS} differences are shown.`) : null;
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  return make("div", { class: "differences", role: "region", tabindex: 0, "aria-label": "Differences" }, table, note);
}

function makeRow(difference) {
  const { path, kind } = difference;
  const cells = ["before", "after"].map((side) => makeCell(difference, side));
  const where = make("th", { scope: "row" }, sayPath(path), make("span", { class: "kind" }, ` ${kind}`));
  return make("tr", { class: kind }, where, ...cells);
}

function makeCell(difference, side) {
  if (!Object.hasOwn(difference, side)) return make("td", { class: "absent" }, "not sent");
  const text = stringify(difference[side], 1);
  const shown = text.length > MOST_LETTERS ? `${cutText(text, MOST_LETTERS)}… (${text.length} characters)` : text;
  return make("td", {}, make(side === "before" ? "del" : "ins", {}, shown));
}
