// Integers beyond 2**53 - 1, of which JavaScript's numbers do not keep each digit.

import { RequestUnfit } from "./failures.js";

const UNSAFE = /[0-9]{16}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/g;
const INTEGER = /^-?[0-9]+$/;

/** Write JSON: a BigInt as text, which tools take for an integer; a number that may have been rounded is refused. */
export function writeJson(value) {
  let isExact = true;
  const text = JSON.stringify(value, (_key, it) => {
    isExact &&= !isRounded(it);
    return isBig(it) ? `${it}` : it;
  });
  if (!isExact) throw new RequestUnfit(describeRounded(findRounded(value)), 422);
  return text;
}

/** Copy what a model has said as JSON has it, where numbers that were too large for one stay rounded ones. */
export function copyJson(value) {
  return JSON.parse(JSON.stringify(value, (_key, it) => (isBig(it) ? `${it}` : isInfinite(it) ? Number.MAX_VALUE : it)));
}

const isBig = (it) => typeof it === "bigint" || it instanceof BigInt;
const isInfinite = (it) => typeof it === "number" && !Number.isFinite(it);

// JSON has no infinite number, as which one of too many digits is read: it would become null.
function isRounded(value) {
  const it = value instanceof Number ? value.valueOf() : value;
  return isInfinite(it) || (Number.isInteger(it) && !Number.isSafeInteger(it));
}

/** Return where a number stands that may have been rounded, as `args.order`. */
export function findRounded(value, place = "") {
  if (isRounded(value)) return place;
  if (value === null || typeof value !== "object") return undefined;
  const plain = typeof value.toJSON === "function" ? value.toJSON() : value;
  if (plain !== value) return findRounded(plain, place);
  for (const [key, inner] of Object.entries(value)) {
    const found = findRounded(inner, Array.isArray(value) ? `${place}[${key}]` : place ? `${place}.${key}` : key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Say of a place what is wrong there, as a problem of the server's would. */
export function describeRounded(place) {
  const detail =
    `${place || "a number"} may have been rounded, since numbers of JavaScript have each digit only up to 2**53 - 1: ` +
    "give it as text, or as a BigInt, which is sent as text";
  return { type: "urn:sidecall:problem:rounded-number", title: "A number may have been rounded.", detail };
}

/** Read JSON in which integers that a number would round come as text. */
export function parseJson(text) {
  return JSON.parse(UNSAFE.test(text) ? text.replace(TOKEN, keepDigits) : text);
}

function keepDigits(token) {
  return INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token;
}
