// JSON that keeps every digit: a number that JavaScript would write in another way stays the text that it was.

/** Whether this browser can hold numbers as they are written; without it long ones are rounded. */
export const keepsDigits = typeof JSON.rawJSON === "function";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
// Without any of these, no number of a text changes when JavaScript reads it and writes it again.
const DELICATE = /[\d.]{16}|\.\d*0(?!\d)|\.0{5}|\d[eE][+-]?\d|-0(?![\d.])/;

/** Read JSON text. Numbers come as numbers, or as what `JSON.rawJSON` makes where digits would be lost. */
export function parse(text) {
  const value = JSON.parse(text);
  return keepsDigits && DELICATE.test(text) ? JSON.parse(text, keepDigits) : value;
}

function keepDigits(_key, value, context) {
  return typeof value === "number" ? exact(value, context.source) : value;
}

function exact(value, source) {
  return String(value) === source || !keepsDigits ? value : JSON.rawJSON(source);
}

/** Write a value as JSON text, with an indent where one is given. */
export function stringify(value, indent) {
  return JSON.stringify(value, null, indent);
}

/** Return whether a text is a number as JSON writes it. */
export function isNumber(text) {
  return NUMBER.test(text);
}

/** Read a number as a person types it, or return undefined if JSON has no such number, or this browser rounds it. */
export function parseNumber(text) {
  const isRounded = !keepsDigits && /\d{16}/.test(text.replace(".", ""));
  return isNumber(text) && !isRounded ? exact(Number(text), text) : undefined;
}

/** Name the JSON type of a value: null, boolean, number, string, array or object. */
export function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isExactNumber(value)) return "number";
  return typeof value;
}

function isExactNumber(value) {
  return keepsDigits && JSON.isRawJSON(value);
}

/** Return whether two values are the same JSON; the order of an object's keys does not count. */
export function same(one, two) {
  const type = typeOf(one);
  if (type !== typeOf(two)) return false;
  if (type === "number") return stringify(one) === stringify(two);
  if (type === "array") return one.length === two.length && one.every((item, index) => same(item, two[index]));
  if (type !== "object") return one === two;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(two).length && keys.every((key) => Object.hasOwn(two, key) && same(one[key], two[key]))
  );
}

/** Write a path as the server does in its messages: `lines[0].sku`. */
export function sayPath(path) {
  const said = path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${part}`))
    .join("");
  return said === "" ? "the whole value" : said;
}
