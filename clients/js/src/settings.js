// How a server is reached, as the program says it: looked at once, so that what cannot work is said before a request.

const DEFAULT_URL = "http://127.0.0.1:8000";
// What a header may hold; other letters are refused by each runtime in words of its own, or change on their way.
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Return the address of a server, without a slash at its end. */
export function readAddress(url) {
  const said = String(url ?? readEnvironment("SIDECALL_URL") ?? DEFAULT_URL).trim();
  // A page may name its own server by a path alone.
  const address = readUrl(said, globalThis.location?.href);
  // Of http://http://tools the host is http.
  if (address === undefined || /\s/.test(said) || address.pathname.startsWith("//")) {
    throw new TypeError(`${quote(said)} is no address of a server: give one such as ${DEFAULT_URL}`);
  }
  if (address.protocol !== "http:" && address.protocol !== "https:") {
    throw new TypeError(`${quote(said)} begins with neither http:// nor https://: give an address such as ${DEFAULT_URL}`);
  }
  if (address.port === "0") throw new TypeError(`${quote(said)} has a port that there is not: give an address such as ${DEFAULT_URL}`);
  if (address.username || address.password) {
    throw new TypeError("an address holds no credentials: give them as apiKey, token or headers");
  }
  if (address.search || address.hash) throw new TypeError(`${quote(said)} is no address of a server: leave out what follows ? or #`);
  return address.href.replace(/\/+$/, "");
}

function readUrl(text, base) {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Return the credential of requests, a text or a function of none; undefined where there is none. */
export function readCredential({ apiKey, token, headers = {} }) {
  const own = Object.keys(headers).find((name) => name.toLowerCase() === "authorization");
  const given = Object.entries({ apiKey, token, [`the header ${own}`]: own }).filter(([, value]) => value !== undefined);
  if (given.length > 1) throw new TypeError(`give ${given.map(([name]) => name).join(" or ")}, not both`);
  const credential = token ?? apiKey ?? (own === undefined ? readEnvironment("SIDECALL_API_KEY")?.trim() : undefined);
  if (typeof credential === "function") return credential;
  return credential === undefined ? undefined : requireCredential(credential);
}

/** Return a credential that can be sent. */
export function requireCredential(credential) {
  if (credential === null || credential === undefined) return credential;
  if (typeof credential !== "string") throw new TypeError("a key or a token is a text, or a function that returns one");
  if (!HEADER_VALUE.test(credential)) {
    throw new TypeError("a key or a token has no line break, and no other letters than printable ones of ASCII");
  }
  return credential;
}

/** Return headers that can be sent. */
export function requireHeaders(headers) {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name)) throw new TypeError(`${quote(name)} is no name of a header`);
    if (!HEADER_VALUE.test(String(value))) {
      throw new TypeError(`the header ${name} has a line break, or other letters than printable ones of ASCII`);
    }
  }
  return headers;
}

function quote(text) {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

function readEnvironment(name) {
  try {
    return globalThis.process?.env?.[name] || globalThis.Deno?.env?.get(name) || undefined;
  } catch {
    return undefined; // Deno, where reading it is not allowed
  }
}
