// What no link carries, and no browser keeps.

import { stringify } from "./json.js";

/**
 * Leave out what a schema marks as secret, so that no link has it: members with `writeOnly` or the format `password`.
 */
export function dropSecrets(value, schema, root = schema, depth = 0) {
  const described = resolve(schema, root);
  if (depth > 20 || described === null) return value;
  if (Array.isArray(value)) return value.map((it) => dropSecrets(it, described.items, root, depth + 1));
  if (value === null || typeof value !== "object" || !stringify(value).startsWith("{")) return value;
  const kept = {};
  for (const [name, it] of Object.entries(value)) {
    const member = described.properties?.[name];
    if (!isSecret(resolve(member, root), root))
      Object.defineProperty(kept, name, {
        value: dropSecrets(it, member, root, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return kept;
}

function isSecret(schema, root) {
  if (schema === null) return false;
  const variants = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((it) => resolve(it, root));
  return variants.some((it) => it !== null && (it.writeOnly === true || it.format === "password"));
}

function resolve(schema, root) {
  let found = schema;
  for (let count = 0; count < 20 && typeof found?.$ref === "string"; count += 1) {
    const name = decodeURIComponent(found.$ref.replace("#/$defs/", "")).replaceAll("~1", "/").replaceAll("~0", "~");
    found = root.$defs?.[name];
  }
  return found !== null && typeof found === "object" ? found : null;
}
