// The same call as a program sends it: for a shell, in Python, in JavaScript.

import { stringify } from "./json.js";

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
  const escaped = text.replaceAll("'", "'\\''");
  return `'${escaped}'`;
}

/** Write a JSON value as Python. */
function writePython(value, indent) {
  const deeper = `${indent}    `;
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return escapePython(value);
  if (Array.isArray(value)) {
    const items = value.map((it) => `${deeper}${writePython(it, deeper)},\n`);
    return items.length === 0 ? "[]" : `[\n${items.join("")}${indent}]`;
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
