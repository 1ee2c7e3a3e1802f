// The client asks a real server, and a scripted one where something has to go wrong.

import assert from "node:assert/strict";
import test from "node:test";

import { ApprovalNeeded, NotThere, RequestUnfit, ServerBusy, ServerUnreachable, Sidecall } from "sidecall";

const server = new Sidecall();

/** Make a client whose requests are answered by these, one after the other; an error is a lost connection. */
function script(answers, options = {}) {
  const asked = [];
  const fetch = async (url, request) => {
    asked.push({ url, ...request });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return [new Sidecall("http://sidecall/", { fetch, ...options }), asked];
}

function refuse(slug, status, headers = {}) {
  return Response.json({ type: `urn:sidecall:problem:${slug}`, title: "No.", status }, { status, headers });
}

const ANSWER = { content: "8", tool_call_id: "a", name: "double", status: "success" };
const answer = () => Response.json(ANSWER);

test("what waits for a person says where they have to sign in", () => {
  const call = (name, provider) => {
    const link = provider && { provider, url: `https://x.test/oauth/start/${provider}` };
    return { tool_call: { name }, sign_in: link ?? null };
  };

  const needed = new ApprovalNeeded([call("wipe"), call("list_mail", "hub"), call("read_mail", "hub")]);

  const where = "A person has to sign in at hub: https://x.test/oauth/start/hub";
  assert.equal(needed.message, `A person has to decide about: wipe; ${where}`);
  assert.equal(new ApprovalNeeded([call("list_mail", "hub")]).message, where);
});

test("the tools are listed in each provider's form", async () => {
  const names = { openai: (it) => (it.function ?? it.custom).name, "openai-responses": (it) => it.name, anthropic: (it) => it.name };
  for (const [format, name] of Object.entries(names)) {
    assert.ok((await server.tools(format)).map(name).includes("double"), format);
  }
  const [{ functionDeclarations }] = await server.tools("gemini", { names: ["double"] });
  assert.deepEqual(functionDeclarations.map((it) => it.name), ["double"]);
  assert.equal((await server.tool("double")).description, "Double a number.");
});

test("an unchanged list is not sent again", async () => {
  const list = () => Response.json([{ name: "double" }], { headers: { ETag: '"1"' } });
  const [client, asked] = script([list(), new Response(null, { status: 304 })]);

  (await client.tools()).push("mine");

  assert.deepEqual(await client.tools(), [{ name: "double" }]);
  assert.equal(asked[1].headers["If-None-Match"], '"1"');
});

test("calls run with what stands beside them", async () => {
  const found = await server.call("find", { query: "tea" }, { context: { user: "Ada" } });
  const [first, second] = await server.batch(
    [{ name: "recall", args: { key: "key" } }, { name: "double", args: { number: -1 } }],
    { state: { key: "of the state" } },
  );

  assert.deepEqual([found.content, found.artifact], ["tea for Ada", { rows: ["tea"] }]);
  assert.equal(first.content, "of the state");
  assert.deepEqual([second.status, second.content], ["error", "Not below zero."]);
});

test("a call is streamed", async () => {
  const events = [];
  for await (const { event, data } of server.stream("write", { text: "a b" })) events.push([event, data.content ?? data.done]);

  assert.deepEqual(events, [["progress", 1], ["partial", "a"], ["partial", "b"], ["message", "ab"]]);
});

test("a person is asked", async () => {
  const planned = await server.preview("refund", { order: 7 });
  const needed = await server.call("refund", { order: 7 }).catch((error) => error);
  const answered = await server.call("refund", { order: 7 }, { ask: (approval) => approval.tool_call.args.order === 7 });
  const waiting = await server.approvals.list();
  await server.approvals.reject(needed.approvals[0].id, "No.");

  assert.equal(planned.requires_approval, true);
  assert.ok(needed instanceof ApprovalNeeded);
  assert.equal(answered.content, "Refunded 100 for order 7.");
  assert.ok(waiting.map((it) => it.id).includes(needed.approvals[0].id));
  assert.equal((await server.approvals.show(needed.approvals[0].id)).message.content, "No.");
});

test("what the program has to mend is an error", async () => {
  await assert.rejects(server.tool("nope"), (error) => error instanceof NotThere && error.status === 404);
  await assert.rejects(server.tools("nope"), RequestUnfit);
  await assert.rejects(server.call("recall", { key: "a" }), { slug: "missing-context" });
  await assert.rejects(server.call("double", {}, { stat: 1 }), TypeError);
  assert.throws(() => new Sidecall("", { retry: 1 }), TypeError);
});

test("what was refused before it ran is sent again after Retry-After", async () => {
  const [client, asked] = script([refuse("too-many-calls", 429, { "Retry-After": "0" }), refuse("overloaded", 503), answer()]);

  assert.equal((await client.call("double", { number: 4 })).content, "8");
  assert.equal(asked.length, 3);
});

for (const [name, answers, options, Kind] of [
  ["that asks for too long a wait", [refuse("overloaded", 503, { "Retry-After": "90" })], {}, ServerBusy],
  ["that may have run", [refuse("shutting-down", 503)], {}, ServerBusy],
  ["whose connection is lost", [new TypeError("fetch failed")], {}, ServerUnreachable],
  ["that is refused again and again", [0, 1].map(() => refuse("overloaded", 503)), { retries: 1 }, ServerBusy],
]) {
  test(`a call ${name} is not sent again`, async () => {
    const [client, asked] = script([...answers], options);

    await assert.rejects(client.call("double", { number: 4 }), Kind);
    assert.equal(asked.length, answers.length);
  });
}

test("with keys a call is sent again, no matter what was lost", async () => {
  const lost = [new TypeError("fetch failed"), refuse("shutting-down", 503)];
  const [client, asked] = script([...lost, answer()], { makesKeys: true });

  await client.call("double", { number: 4 });

  const keys = asked.map((it) => it.headers["Idempotency-Key"]);
  assert.equal(new Set(keys).size, 1);
  assert.match(keys[0], /^"[-0-9a-f]{36}"$/);
});

test("a server that was not reached is tried again", async () => {
  const refused = new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
  const [client] = script([refused, answer()]);

  assert.equal((await client.call("double", { number: 4 })).content, "8");
});

test("credentials go with each request", async () => {
  const [keyed, first] = script([answer()], { apiKey: "secret" });
  const [tokened, second] = script([answer()], { token: async () => "of now", headers: { "X-User": "ada" } });

  await keyed.call("double", {});
  await tokened.call("double", {});

  assert.equal(first[0].headers.Authorization, "Bearer secret");
  assert.deepEqual([second[0].headers.Authorization, second[0].headers["X-User"]], ["Bearer of now", "ada"]);
});

test("nobody has to wait for a call", async () => {
  const wait = server.call("sleep", { seconds: 30 }, { signal: AbortSignal.timeout(50) });

  await assert.rejects(wait, { name: "TimeoutError" });
});

test("nobody has to wait for a person, or for a token", async () => {
  const never = () => new Promise(() => {});
  for (const reason of [new RangeError("gone"), "gone", null]) {
    for (const ask of [
      (signal) => server.call("refund", { order: 7 }, { ask: never, signal }),
      (signal) => server.batch([{ name: "refund", args: { order: 7 } }], { ask: never, signal }),
      (signal) => new Sidecall(undefined, { token: never }).call("double", { number: 4 }, { signal }),
      (signal) => new Sidecall(undefined, { token: never }).tools("openai", { signal }),
    ]) {
      const control = new AbortController();
      const asked = ask(control.signal).then(() => "answered", (error) => error);
      setTimeout(() => control.abort(reason), 50);
      assert.equal(await asked, reason);
    }
  }
});

test("a job runs on, is found by its id, and is cancelled", async () => {
  const job = await server.job("double", { number: 4 });
  const state = await server.findJob(job.id).wait(60);
  const slow = await server.job("sleep", { seconds: 60 });
  const cancelled = await slow.cancel();

  assert.deepEqual([state.status, state.message.content], ["succeeded", "8"]);
  assert.equal((await slow.wait(60)).status, "cancelled");
  assert.ok(cancelled.id);
  await assert.rejects(server.job("double", { number: 4 }, { ask: () => true }), TypeError);
});

test("a job is waited for as long as was said, also for parts of a second", async () => {
  const running = () => Response.json({ id: "c", status: "running" });
  const [client, asked] = script(Array.from({ length: 20 }, running));

  const began = performance.now();
  const state = await client.findJob("c").wait(0.5);

  assert.equal(state.status, "running");
  assert.ok(performance.now() - began >= 499);
  // How soon a timer rings is not exact.
  assert.ok(asked.length > 1 && asked.length < 10, `${asked.length}`);
  assert.equal(asked[0].headers.Prefer, undefined);
});

test("a job that was refused has its answer", async () => {
  const job = await server.job("nope");
  const state = await job.wait();

  assert.deepEqual([state.id, state.name, state.status, state.kind], [job.id, "nope", "failed", "unknown_tool"]);
  assert.match(state.message.content, /^Error: nope is not a valid tool, try one of \[/);
  assert.deepEqual(await job.show(), state);
});

test("a tool that asks several times is answered each time", async () => {
  const running = () => Response.json({ id: "c" }, { status: 202, headers: { Location: "/approvals/p" } });
  const pending = (description) =>
    Response.json({ id: "p", status: "pending", tool_call: { name: "wipe" }, description });
  const decided = Response.json({ id: "p", status: "approved", tool_call: { name: "wipe" }, message: ANSWER });
  const [client] = script([running(), pending("Read it?"), pending("Read it?"), pending("Delete it?"), decided]);
  const [silent] = script([running(), pending("Read it?"), pending("Delete it?"), pending("Delete it?")]);
  const said = [];

  const answer = await client.call("wipe", {}, { ask: ({ description }) => said.push(description) > 0 });
  await assert.rejects(silent.call("wipe", {}, { ask: ({ description }) => void said.push(description) }), ApprovalNeeded);

  assert.deepEqual(answer, ANSWER);
  assert.deepEqual(said, ["Read it?", "Read it?", "Delete it?", "Read it?", "Delete it?"]);
});

test("what a person says answers the question that they were shown", async () => {
  const running = () => Response.json({ id: "c" }, { status: 202, headers: { Location: "/approvals/p" } });
  const pending = (question) => Response.json({ id: "p", status: "pending", tool_call: { name: "wipe" }, question });
  const decided = Response.json({ id: "p", status: "approved", tool_call: { name: "wipe" }, message: ANSWER });
  const [client, asked] = script([running(), pending(1), pending(2), decided]);

  assert.deepEqual(await client.call("wipe", {}, { ask: () => true }), ANSWER);
  assert.deepEqual(
    asked.filter(({ url }) => url.includes("/approvals/")).map(({ body }) => body && JSON.parse(body)),
    [undefined, { decision: "approve", question: 1 }, { decision: "approve", question: 2 }],
  );
});

test("a person is asked about a call in the background, or the program is told that one has to be", async () => {
  const running = () => Response.json({ id: "c" }, { status: 202, headers: { Location: "/tool_calls/c" } });
  const held = () => Response.json({ id: "c", status: "awaiting_approval", approval_id: "p" });
  const pending = () => Response.json({ id: "p", status: "pending", tool_call: { name: "wipe" } });
  const decided = Response.json({ id: "p", status: "approved", tool_call: { name: "wipe" }, message: ANSWER });
  const [client, asked] = script([running(), held(), pending(), decided, running(), held(), pending()]);

  assert.deepEqual(await client.call("wipe", {}, { ask: () => true }), ANSWER);
  await assert.rejects(client.call("wipe", {}), ApprovalNeeded);
  assert.equal(asked[3].method, "POST");
});
