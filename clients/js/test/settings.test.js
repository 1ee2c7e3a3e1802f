// What cannot work is said when the client is made, and never taken for a server that is not there.

import assert from "node:assert/strict";
import test from "node:test";

import { Sidecall } from "sidecall";

import { ANSWER, say, withServer } from "./scripted.js";

for (const url of [
  "127.0.0.1:8000",
  "localhost:8000",
  "tools",
  "htp://127.0.0.1:8000",
  "ftp://127.0.0.1",
  "http://",
  "http://127.0.0.1:99999",
  "http://127.0.0.1:0",
  "http://127.0.0.1: 8000",
  "http://my tools:8000",
  "http://127.0.0.256:8000",
  "http://tools|tools",
  "http://http://127.0.0.1:8000",
  "http://127.0.0.1:8000:9000",
  "//127.0.0.1:8000",
  "http://user:password@127.0.0.1:8000",
  "http://127.0.0.1:8000/?key=1",
  "http://127.0.0.1:8000/#tools",
  "file:///tools",
]) {
  test(`${url} is no address of a server`, () => {
    assert.throws(() => new Sidecall(url), TypeError);
  });
}

for (const bad of ["key\n", "a\r\nb", "schlüssel", "日本", "a\u0000b"]) {
  test(`${JSON.stringify(bad)} is no key, token, header or idempotency key`, async () => {
    assert.throws(() => new Sidecall("http://127.0.0.1:1", { apiKey: bad }), TypeError);
    assert.throws(() => new Sidecall("http://127.0.0.1:1", { token: bad }), TypeError);
    assert.throws(() => new Sidecall("http://127.0.0.1:1", { headers: { "X-User": bad } }), TypeError);
    assert.throws(() => new Sidecall("http://127.0.0.1:1", { headers: { [bad]: "a" } }), TypeError);
    let tried = 0;
    const fetch = async () => ((tried += 1), Response.json(ANSWER));
    await assert.rejects(new Sidecall("http://127.0.0.1:1", { fetch, token: async () => bad }).call("double"), TypeError);
    await assert.rejects(new Sidecall("http://127.0.0.1:1", { fetch }).call("double", {}, { key: bad }), TypeError);
    assert.equal(tried, 0);
  });
}

test("a key that is none is said to be", () => {
  for (const bad of [7, {}, ["a"]]) assert.throws(() => new Sidecall("http://127.0.0.1:1", { apiKey: bad }), TypeError);
});

for (const options of [
  { apiKey: "a", token: "b" },
  { apiKey: "a", token: () => "b" },
  { apiKey: "a", headers: { Authorization: "Bearer b" } },
  { token: "a", headers: { authorization: "Basic b" } },
]) {
  test(`two credentials are one too many: ${JSON.stringify(options)}`, () => {
    assert.throws(() => new Sidecall("http://127.0.0.1:1", options), /not both/);
  });
}

test("credentials are a text or a function, or a header", async () => {
  await withServer([say(200, ANSWER)], async (url, asked) => {
    for (const options of [
      { apiKey: "a" },
      { apiKey: () => "a" },
      { apiKey: async () => "a" },
      { token: "a" },
      { token: () => "a" },
      { headers: { authorization: "Bearer a" } },
      { headers: { AUTHORIZATION: "Bearer a" } },
    ]) {
      await new Sidecall(`${url}/`, options).call("double");
      assert.equal(asked.at(-1).headers.authorization, "Bearer a");
      assert.match(asked.at(-1).url, /^\/tool_calls\?/);
    }
  });
});

test("a key may hold all printable letters, and arrives as it is", async () => {
  await withServer([say(200, ANSWER)], async (url, asked) => {
    await new Sidecall(url).call("double", {}, { key: 'say "a\\b"' });
    assert.equal(asked[0].headers["idempotency-key"], String.raw`"say \"a\\b\""`);
  });
});
