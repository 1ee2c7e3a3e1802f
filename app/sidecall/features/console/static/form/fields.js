// Fields without parts: texts, numbers, choices, constants, and JSON for all that no other field can hold.
//
// Each is `{element, control, read(path, problems), fill(value), isBlank(), text(), write(text)}`.

import { isLong, make, makeId } from "../dom.js";
import { isNumber, parse, parseNumber, same, stringify } from "../json.js";
import { isSecret } from "./fits.js";
import { findExample, sayValue } from "./words.js";

/** What a field reads as while nothing is in it. */
export const MISSING = Symbol("missing");

const PLAIN = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };

/** Make a field for a text. It may have several lines; secrets have one and are not shown. */
export function makeText({ schema }) {
  const control = isSecret(schema)
    ? make("input", { ...PLAIN, id: makeId(), type: "password", autocomplete: "new-password" })
    : make("textarea", { ...PLAIN, id: makeId(), rows: 1, placeholder: findExample(schema) });
  control.addEventListener("input", () => setLength(control));
  return {
    ...plain(control),
    read: () => control.value,
    fill: (value) => write(control, value),
    isBlank: () => control.value === "",
  };
}

/** Make a field for a number, which keeps it as it is typed. */
export function makeNumber({ schema }) {
  const mode = schema.type === "integer" && schema.minimum >= 0 ? "numeric" : null;
  const control = make("input", { ...PLAIN, id: makeId(), type: "text", inputmode: mode, class: "number" });
  const kind = schema.type === "integer" ? "an integer" : "a number";
  return {
    ...plain(control),
    read: (path, problems) => readNumber(control.value.trim(), kind, path, problems),
    fill: (value) => write(control, stringify(value)),
    isBlank: () => control.value.trim() === "",
  };
}

function readNumber(text, kind, path, problems) {
  const value = parseNumber(text);
  if (value !== undefined) return value;
  problems.push({ path, message: sayWrong(text, kind) });
  return text === "" ? MISSING : text;
}

function sayWrong(text, kind) {
  if (text === "") return `Write ${kind}.`;
  return isNumber(text) ? "This browser would round this number." : `This is not ${kind} as JSON writes it.`;
}

/** Make a field that chooses one of the values that the schema lists, or of true and false. */
export function makeChoice({ schema }) {
  const values = schema.enum ?? [true, false];
  const names = values.map((value) => sayValue(value));
  const areClear = new Set(names).size === names.length;
  const options = values.map((value, index) =>
    make("option", { value: index }, areClear ? names[index] : stringify(value)),
  );
  const control = make(
    "select",
    { id: makeId(), autocomplete: "off" },
    make("option", { value: "" }, "default" in schema ? `default: ${sayValue(schema.default)}` : "choose…"),
    ...options,
  );
  return {
    ...plain(control),
    read: (path, problems) => {
      if (control.value !== "") return values[Number(control.value)];
      problems.push({ path, message: "Choose one." });
      return MISSING;
    },
    fill: (value) => write(control, String(values.findIndex((one) => same(one, value)))),
    isBlank: () => control.value === "",
    text: () => (control.value === "" ? "" : sayValue(values[Number(control.value)], Infinity)),
    write: (text) => write(control, String(names.indexOf(text) < 0 ? "" : names.indexOf(text))),
  };
}

/** Show the one value that may be sent. */
export function makeConstant({ schema }) {
  const value = schema.const ?? null;
  return {
    element: make("code", { class: "constant" }, stringify(value)),
    control: null,
    read: () => value,
    fill: () => undefined,
    isBlank: () => false,
    text: () => "",
    write: () => undefined,
  };
}

/** Make a field for JSON text, which holds every value. */
export function makeJson() {
  const control = make("textarea", { ...PLAIN, id: makeId(), rows: 2, class: "json", placeholder: "JSON" });
  return {
    ...plain(control),
    read: (path, problems) => readJson(control.value, path, problems),
    fill: (value) => write(control, stringify(value, 2)),
    isBlank: () => control.value.trim() === "",
  };
}

function readJson(text, path, problems) {
  if (text.trim() === "") {
    problems.push({ path, message: "Write JSON." });
    return MISSING;
  }
  try {
    return parse(text);
  } catch (error) {
    problems.push({ path, message: `This is not JSON; a text stands in double quotes. (${error.message})` });
    return text;
  }
}

function plain(control) {
  return { element: control, control, text: () => control.value, write: (text) => write(control, text) };
}

function write(control, text) {
  control.value = text;
  setLength(control);
}

function setLength(control) {
  control.classList.toggle("long", isLong(control.value));
}
