// The fields of an object: its members, and rows of a key and a value for those that the schema does not list.

import { make } from "../dom.js";
import { MISSING } from "./fields.js";
import { freeSchema } from "./fits.js";
import { Rows } from "./rows.js";
import { sayValue } from "./words.js";

/** Make the fields of an object. */
export function makeObject({ schema, tag }, place, form) {
  const members = new Map();
  for (const [name, one] of Object.entries(schema.properties ?? {})) {
    if (name !== tag?.name) members.set(name, makeMember(name, one, schema, place, form));
  }
  const free = new FreeMembers(schema, place, form);
  const element = make("div", { class: "group" }, ...[...members.values()].map((it) => it.element), free.element);
  return {
    element,
    control: null,
    read: (path, problems) => readObject({ tag, members, free }, path, problems),
    fill: (value) => fillObject({ tag, members, free }, value),
    child: (name) => members.get(name) ?? free.find(name),
    isBlank: () => false,
  };
}

function makeMember(name, schema, parent, place, form) {
  const isRequired = parent.required?.includes(name) ?? false;
  return form.makeMember(schema, { name, isRequired, refs: place.refs, depth: place.depth });
}

function readObject({ tag, members, free }, path, problems) {
  const value = Object.create(null);
  if (tag !== undefined) value[tag.name] = tag.value;
  for (const [name, member] of members) {
    const read = member.read([...path, name], problems);
    if (read !== MISSING) value[name] = read;
  }
  free.readInto(value, path, problems);
  return value;
}

function fillObject({ tag, members, free }, value) {
  for (const [name, member] of members) {
    if (Object.hasOwn(value, name)) member.fill(value[name]);
    else member.setSent(false);
  }
  const names = Object.keys(value).filter((name) => !members.has(name) && name !== tag?.name);
  free.fill(names.map((name) => [name, value[name]]));
}

/** The members of an object that its schema does not list. */
class FreeMembers {
  constructor(schema, place, form) {
    const free = freeSchema(schema);
    const { description, ...one } = typeof free === "object" ? free : {};
    Object.assign(this, { place, form, schema: one, keys: schema.propertyNames });
    const says = schema.additionalProperties;
    const isOpen = free !== false && (says !== undefined || schema.patternProperties || !schema.properties);
    const name = place.name || "arguments";
    this.rows = new Rows({
      addText: schema.properties ? "Add another key" : "Add a key",
      addLabel: `Add a key to ${name}`,
      canAdd: () => isOpen,
      canRemove: () => true,
      makeRow: (_, isAsked) => this._makeRow(isAsked),
    });
    const about = description && isOpen ? make("p", { class: "about" }, description) : null;
    this.element = make("div", { class: "free" }, about, this.rows.element);
  }

  _makeRow(isAsked) {
    const { form, place } = this;
    const { refs, depth } = place;
    const keySchema = typeof this.keys === "object" ? { type: "string", ...this.keys } : { type: "string" };
    const key = form.makeField(keySchema, { name: "key", refs, depth });
    const field = form.makeField(this.schema, { name: "value", refs, depth });
    key.build();
    key.element.addEventListener("input", () => field.rename(nameValue(key)));
    field.build(isAsked);
    return { key, field, element: make("div", { class: "pair" }, key.element, field.element) };
  }

  /** Put members into the rows. */
  fill(entries) {
    this.rows.clear();
    for (const [name, value] of entries) {
      const row = this.rows.add();
      row.key.fill(name);
      row.field.fill(value);
      row.field.rename(nameValue(row.key));
      this.rows.rename();
    }
  }

  /** Add what the rows hold to an object. */
  readInto(value, path, problems) {
    for (const { key, field } of this.rows.list) {
      const name = key.read(path, problems);
      if (name === MISSING) continue;
      const read = field.read([...path, name], problems);
      if (Object.hasOwn(value, name)) problems.push({ path, message: `The key ${sayValue(name)} is there twice.` });
      else if (read !== MISSING) value[name] = read;
    }
  }

  /** Return the field of a key, if there is one. */
  find(name) {
    return this.rows.list.find(({ key }) => key.read([], []) === name)?.field;
  }
}

function nameValue(key) {
  const name = key.read([], []);
  return typeof name === "string" && name !== "" ? sayValue(name, 40) : "value";
}
