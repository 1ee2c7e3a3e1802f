// What a JSON Schema says about one place: references followed, `allOf` joined, unions as a list of variants.

import { same, stringify, typeOf } from "../json.js";

const ANNOTATIONS = ["title", "description", "default", "examples", "deprecated"];
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
const BY_TYPE = {
  string: "text",
  integer: "number",
  number: "number",
  boolean: "choice",
  null: "constant",
  object: "object",
  array: "array",
};

/**
 * Follow the references of a schema and join its `allOf`.
 *
 * The answer is `{schema, refs}`: `refs` are the references followed, by which recursion is seen. A schema that cannot
 * be joined comes back without its shape, so that it gets a field for JSON.
 */
export function resolve(schema, root, refs = []) {
  if (schema === false) return { schema: { description: "Nothing may be sent here." }, refs };
  if (typeOf(schema) !== "object") return { schema: {}, refs };
  const { $ref, allOf, ...own } = schema;
  let found = { schema: {}, refs };
  if (typeof $ref === "string") found = follow($ref, root, refs);
  for (const part of Array.isArray(allOf) ? allOf : []) {
    const next = resolve(part, root, found.refs);
    found = { schema: join(found.schema, next.schema), refs: next.refs };
  }
  return { schema: join(found.schema, own), refs: found.refs };
}

function follow(ref, root, refs) {
  const target = refs.includes(ref) ? undefined : find(ref, root);
  return target === undefined ? { schema: {}, refs } : resolve(target, root, [...refs, ref]);
}

function find(ref, root) {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let place = root;
  for (const part of ref.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (place === null || typeof place !== "object" || !Object.hasOwn(place, name)) return undefined;
    place = place[name];
  }
  return place;
}

/** Join two schemas that both hold; what the second says about itself wins. */
export function join(one, two) {
  const joined = { ...one, ...two };
  if (one.properties && two.properties) joined.properties = joinProperties(one.properties, two.properties);
  if (one.required && two.required) joined.required = [...new Set([...one.required, ...two.required])];
  if (one.type && two.type && !same(one.type, two.type)) joined.type = commonTypes(one.type, two.type);
  const isUnclear = ["anyOf", "oneOf", "enum", "const"].some(
    (word) => word in one && word in two && !same(one[word], two[word]),
  );
  return isUnclear || joined.type?.length === 0 ? withoutShape(joined) : joined;
}

function joinProperties(one, two) {
  const joined = { ...one, ...two };
  for (const name of Object.keys(one)) {
    if (Object.hasOwn(two, name) && !same(one[name], two[name]))
      define(joined, name, { allOf: [one[name], two[name]] });
  }
  return joined;
}

/** Set a member of an object, also one of the name `__proto__`. */
export function define(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function commonTypes(one, two) {
  const allowed = [two].flat();
  const common = [one]
    .flat()
    .filter((type) => allowed.includes(type) || (type === "integer" && allowed.includes("number")));
  if (common.length === 0 && [one].flat().includes("number") && allowed.includes("integer")) return "integer";
  return common.length === 1 ? common[0] : common;
}

function withoutShape(schema) {
  return Object.fromEntries(Object.entries(schema).filter(([word]) => ANNOTATIONS.includes(word)));
}

/** Name the editor for a resolved schema that is no union: text, number, choice, constant, object, array or json. */
export function editorFor(schema) {
  if ("const" in schema) return "constant";
  if (Array.isArray(schema.enum)) return "choice";
  if (typeof schema.type === "string") return Object.hasOwn(BY_TYPE, schema.type) ? BY_TYPE[schema.type] : "json";
  if (schema.properties) return "object";
  return schema.prefixItems || schema.items ? "array" : "json";
}

/**
 * List what may stand at one place: `[{schema, refs, editor, tag}]`, one of them where the schema is no union.
 *
 * `tag` is `{name, value}` for an object that a member of a constant value tells from the others.
 */
export function listVariants(schema, root) {
  const found = resolve(schema, root);
  const flat = flatten(found, root, 0);
  const variants = flat.map((it) => ({ ...it, editor: editorFor(it.schema) }));
  return addTags(variants, found.schema, root);
}

function flatten({ schema, refs }, root, depth) {
  const { anyOf, oneOf, type, nullable, ...rest } = schema;
  if (nullable === true && type !== "null") {
    const some = flatten({ schema: { ...schema, nullable: undefined }, refs }, root, depth);
    return [...some, { schema: { type: "null" }, refs }];
  }
  const options = anyOf ?? oneOf;
  if (Array.isArray(options) && depth < 6) return spread(options, { anyOf, oneOf, type, rest, refs }, root, depth);
  if (!Array.isArray(type)) return [{ schema, refs }];
  return type.map((one) => ({ schema: { ...(one === "null" ? {} : narrow(rest, one)), type: one }, refs }));
}

function narrow(rest, type) {
  if (!Array.isArray(rest.enum)) return rest;
  const values = rest.enum.filter((value) => typeOf(value) === (type === "integer" ? "number" : type));
  return { ...rest, enum: values };
}

function spread(options, { anyOf, oneOf, type, rest, refs }, root, depth) {
  const base = type === undefined ? rest : { ...rest, type };
  if (anyOf && oneOf) return [{ schema: withoutShape(base), refs }];
  const found = options.map((option) => ({ ...resolve(option, root, refs), ref: option?.$ref }));
  const isShaped = found.every(({ schema }) => SHAPES.some((word) => word in schema));
  if (!isShaped) return [{ schema: SHAPES.some((word) => word in base) ? base : withoutShape(base), refs }];
  const common = Object.fromEntries(
    Object.entries(base).filter(
      ([word]) => !ANNOTATIONS.includes(word) && !word.startsWith("$") && word !== "discriminator",
    ),
  );
  return found.flatMap((it) => {
    const name = it.schema.title ?? it.ref?.split("/").at(-1);
    return flatten({ schema: join(common, it.schema), refs: it.refs }, root, depth + 1).map((one) => ({
      name,
      ...one,
      ref: it.ref,
    }));
  });
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
