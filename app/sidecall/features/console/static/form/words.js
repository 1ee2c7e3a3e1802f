// What a form calls things: the kind of a value, and its limits.

import { stringify } from "../json.js";
import { nameOfRef, resolve } from "./schema.js";

const KINDS = {
  string: "text",
  boolean: "true or false",
  object: "object",
  array: "list",
  integer: "integer",
  number: "number",
  null: "null",
};
const EXAMPLES = {
  date: "2026-01-31",
  time: "13:30:00",
  "date-time": "2026-01-31T13:30:00Z",
  duration: "PT1H30M",
  uuid: "123e4567-e89b-12d3-a456-426614174000",
  email: "name@example.org",
};
const FORMAT_NAMES = {
  "date-time": "date and time",
  binary: "bytes as text",
  byte: "base64",
  base64: "base64",
  base64url: "base64url",
  uri: "URI",
  uuid: "UUID",
  regex: "regular expression",
  email: "e-mail address",
};

/** Write a value for a person: texts as they are, all else as JSON, long ones cut. */
export function sayValue(value, most = 60) {
  const text = typeof value === "string" && value !== "" ? value : stringify(value);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Name the kind of value of one variant in a few words. */
export function nameKind({ schema, editor, tag, name }, root) {
  if (tag !== undefined) return sayValue(tag.value);
  if (editor === "json") return "JSON";
  if (editor === "constant") return stringify(schema.const ?? null);
  if (editor === "choice" && schema.enum) return name ?? "one of a list";
  if (editor === "object") return name ?? (schema.properties ? "object" : "keys and values");
  if (editor === "array") return nameArray(schema, name, root);
  return pick(FORMAT_NAMES, schema.format) ?? schema.format ?? pick(KINDS, schema.type) ?? "value";
}

function pick(words, name) {
  return Object.hasOwn(words, name ?? "") ? words[name] : undefined;
}

function nameArray(schema, name, root) {
  if (name !== undefined) return name;
  if (schema.prefixItems) return `${schema.prefixItems.length} items`;
  const { schema: items } = resolve(schema.items ?? true, root);
  const named = nameOfRef(schema.items?.$ref) ?? items.title;
  if (named !== undefined) return `list of ${named}`;
  const kind = items.type === "null" ? undefined : pick(KINDS, items.type);
  if (kind === undefined) return "list";
  return `list of ${kind}${items.type === "boolean" ? "" : "s"}`;
}

/** Name variants so that no two are called alike. */
export function nameVariants(variants, root) {
  const names = variants.map((it) => nameKind(it, root));
  return names.map((name, index) => {
    if (names.indexOf(name) === names.lastIndexOf(name)) return name;
    const limits = sayLimits(variants[index].schema);
    const alike = names.slice(0, index).filter((one) => one === name).length + 1;
    return limits === "" ? `${name} (${alike})` : `${name}, ${limits}`;
  });
}

/** Say the limits of a value in a few words; nothing where it has none. */
export function sayLimits(schema) {
  const said = [
    "exclusiveMinimum" in schema ? `more than ${stringify(schema.exclusiveMinimum)}` : "",
    sayRange(schema.minimum, schema.maximum),
    "exclusiveMaximum" in schema ? `less than ${stringify(schema.exclusiveMaximum)}` : "",
    "multipleOf" in schema ? `a multiple of ${stringify(schema.multipleOf)}` : "",
    sayCount(schema.minLength, schema.maxLength, "character"),
    schema.prefixItems ? "" : sayCount(schema.minItems, schema.maxItems, "item"),
    sayCount(schema.minProperties, schema.maxProperties, "key"),
    schema.uniqueItems === true ? "no item twice" : "",
    schema.pattern === undefined ? "" : `matching ${schema.pattern}`,
    schema.contentMediaType === undefined ? "" : `text of type ${schema.contentMediaType}`,
  ];
  return said.filter(Boolean).join(", ");
}

function sayRange(low, high) {
  if (low === undefined && high === undefined) return "";
  if (high === undefined) return `at least ${stringify(low)}`;
  return low === undefined ? `at most ${stringify(high)}` : `${stringify(low)} to ${stringify(high)}`;
}

function sayCount(low, high, unit) {
  if (low === undefined && high === undefined) return "";
  const range = low === high ? `exactly ${low}` : sayRange(low, high);
  return `${range} ${unit}${(high ?? low) === 1 ? "" : "s"}`;
}

/** Return an example of how a text of this schema is written, or nothing. */
export function findExample(schema) {
  const given = schema.examples?.find((it) => typeof it === "string");
  return given ?? pick(EXAMPLES, schema.format) ?? "";
}
