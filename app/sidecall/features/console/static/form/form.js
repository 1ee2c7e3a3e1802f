// A form for what a JSON Schema describes: it reads and takes JSON values and loses nothing of them.

import { make } from "../dom.js";
import { keepsDigits, sayPath } from "../json.js";
import { Field } from "./choice.js";
import { makeChoice, makeConstant, makeJson, makeNumber, makeText, MISSING } from "./fields.js";
import { makeObject } from "./groups.js";
import { Member } from "./members.js";
import { makeArray } from "./rows.js";

const EDITORS = {
  text: makeText,
  number: makeNumber,
  choice: makeChoice,
  constant: makeConstant,
  json: makeJson,
  object: makeObject,
  array: makeArray,
};
const ROUNDS = "This browser rounds numbers of more than 15 digits. A newer one does not.";

/**
 * Make a form for a schema.
 *
 * Schema and value are JSON as `parse` of json.js reads it. Returns `{element, read, fill, showErrors, focus}`:
 * `read()` is `{value, problems}`, where problems are `{path, message}` with paths as the server gives them in
 * `errors[].loc`; `showErrors` takes such a list and shows each at its field, an empty one takes all away. The element
 * gives an `input` event whenever the value changes.
 */
export function makeForm(schema, { value, disabled = false } = {}) {
  const form = {
    root: schema,
    editors: EDITORS,
    makeField: (one, place) => new Field(form, one, place),
    makeMember: (one, place) => new Member(form, one, place),
  };
  const root = form.makeField(schema, { name: "" });
  root.element.classList.add("root");
  const note = keepsDigits ? null : make("p", { class: "error", role: "note" }, ROUNDS);
  const element = make("fieldset", { class: "form", "aria-label": "Arguments", disabled }, note, root.element);
  if (value === undefined) root.build();
  else root.fill(value);
  let shown = new Map();
  return {
    element,
    read: () => read(root),
    fill: (one) => root.fill(one),
    showErrors: (errors) => {
      shown = show(root, errors, shown);
    },
    focus: () => ([...shown.keys()].find((it) => !it.error.hidden && it.element.isConnected) ?? root).focus(),
  };
}

function read(root) {
  const problems = [];
  const value = root.read([], problems);
  return { value: value === MISSING ? null : value, problems };
}

function show(root, errors, before) {
  for (const field of before.keys()) field.showErrors([]);
  const found = new Map();
  for (const { path, message } of errors) {
    const { field, rest } = root.find(path);
    const where = rest.length > 0 ? `${sayPath(rest)}: ` : "";
    found.set(field, [...(found.get(field) ?? []), where + message]);
  }
  for (const [field, messages] of found) field.showErrors(messages);
  return found;
}
