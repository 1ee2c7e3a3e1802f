// What may stand at one place of a form: the variants of a union, each with the editor that it takes.

import { stringify, typeOf } from "../json.js";
import { ANNOTATIONS, join, nameOfRef, resolve, withoutShape } from "./schema.js";

// What tells the shape of a value; an option of a union without any of these only narrows the others.
const SHAPES = [
  "type",
  "const",
  "enum",
  "properties",
  "additionalProperties",
  "patternProperties",
  "items",
  "prefixItems",
  "anyOf",
  "oneOf",
];
const MOST_VARIANTS = 200;
const BY_TYPE = {
  string: "text",
  integer: "number",
  number: "number",
  boolean: "choice",
  null: "constant",
  object: "object",
  array: "array",
};

/** Name the editor for a resolved schema that is no union: text, number, choice, constant, object, array or json. */
export function editorFor(schema) {
  if ("const" in schema) return "constant";
  if (schema.enum) return schema.enum.length > 0 ? "choice" : "json";
  if (typeof schema.type === "string") return Object.hasOwn(BY_TYPE, schema.type) ? BY_TYPE[schema.type] : "json";
  if (schema.properties || schema.patternProperties || typeOf(schema.additionalProperties) === "object")
    return "object";
  return schema.prefixItems || schema.items ? "array" : "json";
}

// Values are compared with the same schemas again and again.
const known = new WeakMap();

/**
 * List what may stand at one place: `[{schema, refs, editor, tag}]`, one of them where the schema is no union.
 *
 * `tag` is `{name, value}` for an object that a member of a constant value tells from the others.
 */
export function listVariants(schema, root) {
  if (typeOf(schema) !== "object") return makeVariants(schema, root);
  if (!known.has(schema)) known.set(schema, makeVariants(schema, root));
  return known.get(schema);
}

function makeVariants(schema, root) {
  const found = resolve(schema, root);
  const budget = { left: MOST_VARIANTS };
  const flat = flatten(found, root, budget);
  const some = budget.left < 0 ? [{ schema: withoutShape(found.schema), refs: [] }] : flat;
  const variants = some.map((it) => ({ ...it, editor: editorFor(it.schema) }));
  return addTags(variants, found.schema, root);
}

function flatten({ schema, refs }, root, budget) {
  const { anyOf, oneOf, type, nullable, ...rest } = schema;
  if (nullable === true && type !== "null") {
    const some = flatten({ schema: { ...schema, nullable: undefined }, refs }, root, budget);
    return [...some, { schema: { type: "null" }, refs }];
  }
  const base = type === undefined ? rest : { ...rest, type };
  if (anyOf && oneOf) return [{ schema: withoutShape(base), refs }];
  if (anyOf || oneOf) return spread(anyOf ?? oneOf, { schema: base, refs }, root, budget);
  if (!Array.isArray(type)) return [{ schema, refs }];
  return type.map((one) => ({ schema: { ...(one === "null" ? {} : narrow(rest, one)), type: one }, refs }));
}

function narrow(rest, type) {
  if (!rest.enum) return rest;
  const values = rest.enum.filter((value) => typeOf(value) === (type === "integer" ? "number" : type));
  return { ...rest, enum: values };
}

function spread(options, { schema: base, refs }, root, budget) {
  budget.left -= options.length;
  if (budget.left < 0) return [];
  const found = options.map((option) => ({ ...resolve(option, root, refs), ref: refOf(option) }));
  const isShaped = found.every(({ schema }) => hasShape(schema));
  if (!isShaped) return [{ schema: hasShape(base) ? base : withoutShape(base), refs }];
  const common = Object.fromEntries(Object.entries(base).filter(([word]) => isCommon(word)));
  return found.flatMap((it) => {
    const flat = flatten({ schema: join(common, it.schema), refs: it.refs }, root, budget);
    const name = it.schema.title ?? nameOfRef(it.ref);
    return flat.map((one) => ({ name, ...one, ref: it.ref }));
  });
}

function hasShape(schema) {
  return SHAPES.some((word) => word in schema);
}

function isCommon(word) {
  return !ANNOTATIONS.includes(word) && !word.startsWith("$") && word !== "discriminator";
}

function refOf(option) {
  return typeof option?.$ref === "string" ? option.$ref : undefined;
}

function addTags(variants, schema, root) {
  const objects = variants.filter((it) => it.editor === "object");
  if (objects.length < 2) return variants;
  const { propertyName, mapping } = schema.discriminator ?? findDiscriminator(schema, root);
  const names = propertyName === undefined ? Object.keys(objects[0].schema.properties ?? {}) : [propertyName];
  const name = names.find((one) => areTold(objects, one, root, mapping));
  if (name === undefined) return variants;
  return variants.map((it) =>
    it.editor === "object" ? { ...it, tag: { name, value: tagOf(it, name, root, mapping) } } : it,
  );
}

function findDiscriminator(schema, root) {
  const options = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return options.map((option) => resolve(option, root).schema.discriminator).find(Boolean) ?? {};
}

function areTold(objects, name, root, mapping) {
  const tags = objects.map((it) => (it.schema.required?.includes(name) ? tagOf(it, name, root, mapping) : undefined));
  return tags.every((tag) => tag !== undefined) && new Set(tags.map((tag) => stringify(tag))).size === tags.length;
}

function tagOf(variant, name, root, mapping) {
  const properties = variant.schema.properties ?? {};
  if (!Object.hasOwn(properties, name)) return undefined;
  const { schema } = resolve(properties[name], root);
  if ("const" in schema) return schema.const;
  if (schema.enum?.length === 1) return schema.enum[0];
  const named = Object.entries(mapping ?? {}).filter(([, ref]) => ref === variant.ref);
  return named.length === 1 && schema.type === "string" && !schema.enum ? named[0][0] : undefined;
}
