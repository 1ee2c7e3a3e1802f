// Which variant of a union a value is meant for. This chooses a field; whether a value is right says the server.

import { same, stringify, typeOf } from "../json.js";
import { listVariants } from "./variants.js";

const FORMATS = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d/,
  "date-time": /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/,
  duration: /^[-+]?P/,
  uuid: /^[0-9a-f-]{32,36}$/i,
  email: /@/,
  uri: /^[a-z][a-z0-9+.-]*:/i,
  ipv4: /^\d+\.\d+\.\d+\.\d+$/,
  ipv6: /:/,
};
const MOST_ITEMS = 50;
const MOST_PARTS = 200;

/** Return whether a value has the shape of a schema, as deep as it pays to look. */
export function fits(value, schema, root, depth = 0) {
  if (depth > 6) return true;
  return listVariants(schema, root).some((variant) => fitsVariant(value, variant, root, depth));
}

/** Return whether a value has the shape of one variant. */
export function fitsVariant(value, { schema, editor, tag }, root, depth = 0) {
  if (editor === "json") return true;
  if (editor === "constant") return same(value, schema.const ?? null);
  if (schema.enum) return schema.enum.some((one) => same(one, value));
  const type = typeOf(value);
  if (type !== (schema.type === "integer" ? "number" : (schema.type ?? editor))) return false;
  if (type === "number") return schema.type !== "integer" || /^-?\d+(\.0+)?$/.test(stringify(value));
  if (type === "string") return fitsText(value, schema);
  if (type === "array") return fitsArray(value, schema, root, depth);
  return type !== "object" || (fitsTag(value, tag) && fitsObject(value, schema, root, depth));
}

function fitsText(value, { format = "" }) {
  return !Object.hasOwn(FORMATS, format) || FORMATS[format].test(value);
}

function fitsArray(value, schema, root, depth) {
  const { minItems = 0, maxItems = Infinity } = schema;
  if (value.length < minItems || value.length > maxItems) return false;
  return value.slice(0, MOST_ITEMS).every((item, index) => fits(item, itemSchema(schema, index), root, depth + 1));
}

/** Return the schema of an array's item at an index. */
export function itemSchema(schema, index) {
  return schema.prefixItems?.[index] ?? schema.items ?? true;
}

/** Return whether an object has the constant member that tells a variant from others. */
export function fitsTag(value, tag) {
  return tag === undefined || (Object.hasOwn(value, tag.name) && same(value[tag.name], tag.value));
}

function fitsObject(value, schema, root, depth) {
  const keys = Object.keys(value);
  if (!(schema.required ?? []).every((name) => Object.hasOwn(value, name))) return false;
  return keys.slice(0, MOST_ITEMS).every((key) => {
    const member = memberSchema(schema, key);
    return member !== false && fits(value[key], member, root, depth + 1);
  });
}

/** Return the schema of an object's member, false where the object may have none of that name. */
export function memberSchema(schema, name) {
  if (Object.hasOwn(schema.properties ?? {}, name)) return schema.properties[name];
  return freeSchema(schema);
}

/** Return the schema of the members that an object does not list, false where it may have none. */
export function freeSchema({ additionalProperties = true, patternProperties }) {
  const patterns = Object.values(patternProperties ?? {});
  if (patterns.length === 0) return additionalProperties;
  const options = additionalProperties === false ? patterns : [...patterns, additionalProperties];
  return options.length === 1 ? options[0] : { anyOf: options };
}

/** Return whether the field for a variant can hold a value, right or wrong, without a loss. */
export function holds(value, { schema, editor, tag }) {
  if (editor === "json") return true;
  if (editor === "constant") return same(value, schema.const ?? null);
  if (editor === "choice") return (schema.enum ?? [true, false]).some((one) => same(one, value));
  // A text area turns \r into \n, and a line of input drops both.
  if (editor === "text") return typeof value === "string" && !(isSecret(schema) ? /[\r\n]/ : /\r/).test(value);
  if (editor !== typeOf(value)) return false;
  if (editor === "array") return value.length <= MOST_PARTS;
  return editor === "number" || (fitsTag(value, tag) && holdsKeys(Object.keys(value)));
}

function holdsKeys(keys) {
  return keys.length <= MOST_PARTS && !keys.some((key) => key.includes("\r"));
}

/** Return whether a text is not to be shown. */
export function isSecret(schema) {
  return schema.writeOnly === true || schema.format === "password";
}
