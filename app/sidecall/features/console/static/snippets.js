// The same call as a program sends it: for a shell, in Python, in JavaScript.

import { parse, stringify } from "./json.js";

const HEADER = "Authorization";

/** Write a call as text of this kind: `curl`, `python` or `javascript`. `url` is where calls are sent. */
export function writeSnippet(kind, url, call, hasKeys) {
  return WRITERS[kind](url, call, hasKeys);
}

const WRITERS = {
  curl: (url, call, hasKeys) => {
    const key = hasKeys ? [`-H "${HEADER}: Bearer $SIDECALL_KEY"`] : [];
    return [
      `curl -sS ${quote(url)}`,
      ...key,
      "-H 'Content-Type: application/json'",
      `-d ${quote(stringify(call))}`,
    ].join(" \\\n  ");
  },
  python: (url, call, hasKeys) => {
    const key = hasKeys ? `, "${HEADER}": f"Bearer {os.environ['SIDECALL_KEY']}"` : "";
    return [
      ...(hasKeys ? ["import os", ""] : []),
      "import httpx",
      "",
      `call = ${writePython(call, "")}`,
      `response = httpx.post(${stringify(url)}, json=call, headers={"Accept": "application/json"${key}}, timeout=60)`,
      "print(response.raise_for_status().json())",
      "",
    ].join("\n");
  },
  javascript: (url, call, hasKeys) => {
    const key = hasKeys ? `, ${HEADER}: \`Bearer \${process.env.SIDECALL_KEY}\`` : "";
    return [
      `const response = await fetch(${stringify(url)}, {`,
      '  method: "POST",',
      `  headers: { "Content-Type": "application/json"${key} },`,
      `  body: ${stringify(stringify(call))},`,
      "});",
      "console.log(await response.text());",
      "",
    ].join("\n");
  },
};

/** Write a text as one word of a shell, whatever is in it. */
function quote(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Write a JSON value as Python. */
function writePython(value, indent) {
  const deeper = `${indent}    `;
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return escapePython(value);
  if (Array.isArray(value)) {
    return value.length === 0
      ? "[]"
      : `[\n${value.map((it) => `${deeper}${writePython(it, deeper)},\n`).join("")}${indent}]`;
  }
  const text = stringify(value);
  if (!text.startsWith("{")) return text;
  const names = Object.keys(value);
  if (names.length === 0) return "{}";
  const lines = names.map((name) => `${deeper}${escapePython(name)}: ${writePython(value[name], deeper)},\n`);
  return `{\n${lines.join("")}${indent}}`;
}

/** Write a text as Python does: JSON's escapes are Python's, but for pairs that stand for one character. */
function escapePython(text) {
  return stringify(text).replace(
    /\u007f|[\u0080-\u009f\u2028\u2029\ufeff]/g,
    (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

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

/** Read the arguments that a link carries behind its `#`; null where it carries none. */
export function readFragment(fragment) {
  if (!fragment.startsWith("#%7B") && !fragment.startsWith("#{")) return null;
  try {
    return parse(decodeURIComponent(fragment.slice(1)));
  } catch {
    return null;
  }
}
