// What a JSON Schema says about one place: references followed, `allOf` joined.

import { same, stringify, typeOf } from "../json.js";

/** Words that say nothing about what may be sent. */
export const ANNOTATIONS = ["title", "description", "default", "examples", "deprecated"];
// What a word of a schema has to be; one that is something else is not understood, and left out.
const TYPES = {
  string: "$ref title description format pattern contentMediaType",
  object: "properties patternProperties discriminator",
  array: "required enum prefixItems anyOf oneOf allOf examples",
  number: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
};
const TYPE_OF = Object.fromEntries(
  Object.entries(TYPES).flatMap(([type, words]) => words.split(" ").map((word) => [word, type])),
);
const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

function tidy(schema) {
  const known = Object.entries(schema).filter(([word, it]) => !(word in TYPE_OF) || TYPE_OF[word] === typeOf(it));
  const tidied = Object.fromEntries(
    known.map(([word, it]) => [word, COUNTS.includes(word) ? Number(stringify(it)) : it]),
  );
  if (!Array.isArray(tidied.items)) return tidied;
  // As drafts before 2020 write tuples.
  return { ...tidied, prefixItems: tidied.items, items: tidied.additionalItems ?? true };
}

/**
 * Follow the references of a schema and join its `allOf`.
 *
 * The answer is `{schema, refs}`: `refs` are the references followed, by which recursion is seen. A schema that cannot
 * be joined comes back without its shape, so that it gets a field for JSON.
 */
export function resolve(schema, root, refs = []) {
  if (schema === false) return { schema: { description: "Nothing may be sent here." }, refs };
  if (typeOf(schema) !== "object") return { schema: {}, refs };
  const { $ref, allOf = [], ...own } = tidy(schema);
  let found = $ref === undefined ? { schema: {}, refs } : follow($ref, root, refs);
  for (const part of allOf) {
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
    const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (place === null || typeof place !== "object" || !Object.hasOwn(place, name)) return undefined;
    place = place[name];
  }
  return place;
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
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

/** Return what a schema says for people only. */
export function withoutShape(schema) {
  return Object.fromEntries(Object.entries(schema).filter(([word]) => ANNOTATIONS.includes(word)));
}

/** Return the last part of a reference, which names what it leads to. */
export function nameOfRef(ref) {
  return typeof ref === "string" ? ref.split("/").at(-1) : undefined;
}
