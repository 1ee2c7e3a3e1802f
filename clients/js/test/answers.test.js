// What is no answer of a Sidecall server is said at once, by the error for the person who can mend it.

import assert from "node:assert/strict";
import test from "node:test";

import { NotAuthenticated, RequestUnfit, ServerBusy, ServerFailed, ServerUnreachable, Sidecall, UnknownAnswer } from "sidecall";

import { ANSWER, findSilent, say, tell, withServer } from "./scripted.js";

const CHAT = { choices: [{ message: { role: "assistant", tool_calls: [{ id: "a", function: { name: "double", arguments: "{}" } }] } }] };
const drain = async (events) => {
  const seen = [];
  for await (const event of events) seen.push(event);
  return seen;
};

// Every way to ask.
const WAYS = {
  "tools": (it) => it.tools(),
  "tools of Anthropic": (it) => it.tools("anthropic"),
  "tool": (it) => it.tool("double"),
  "call": (it) => it.call("double", { number: 4 }),
  "call that is short": (it) => it.call("double", { number: 4 }, { timeout: 5 }),
  "call with a key": (it) => it.call("double", { number: 4 }, { key: "k" }),
  "batch": (it) => it.batch(["double"]),
  "run": (it) => it.run(CHAT),
  "stream": (it) => drain(it.stream("double", { number: 4 })),
  "streams": (it) => drain(it.stream([{ name: "double", args: {} }])),
  "preview": (it) => it.preview("double", { number: 4 }),
  "job": (it) => it.job("double", { number: 4 }),
  "job that is shown": (it) => it.findJob("c").show(),
  "job that is cancelled": (it) => it.findJob("c").cancel(),
  "approvals": (it) => it.approvals.list(),
  "approval": (it) => it.approvals.show("a"),
  "decision": (it) => it.approvals.approve("a"),
  "aiTools": (it) => it.aiTools(),
};

// What stands at the address, and is none of ours.
const STRANGERS = {
  "a page": ["<!DOCTYPE html><title>Welcome</title>", "<!DOCTYPE html><title>Welcome</title>"],
  "nothing": ["", "it is empty"],
  "an object of another service": [{ status: "ok", version: "1.2" }, '{"status":"ok","version":"1.2"}'],
  "a list of another service": [[1, "two"], '[1,"two"]'],
  "a list of objects": [[{ uid: 1 }], '[{"uid":1}]'],
  "null": [null, "null"],
  "a number": [42, "42"],
  "half of an answer": ['{"content": "8', '{"content": "8'],
  "much": ["x".repeat(1000), "x".repeat(200)],
};

for (const [way, ask] of Object.entries(WAYS)) {
  test(`${way}: an answer of something else is an UnknownAnswer with its beginning`, async () => {
    for (const [name, [body, shown]] of Object.entries(STRANGERS)) {
      await withServer([say(200, body)], async (url) => {
        const error = await ask(new Sidecall(url)).then(() => undefined, (it) => it);
        assert.ok(error instanceof UnknownAnswer, `${name}: ${error}`);
        assert.ok(error.message.endsWith(`: ${shown}`), error.message);
      });
    }
  });

  test(`${way}: a redirect names the server's address`, async () => {
    for (const status of [301, 302, 303]) {
      const moved = (request, response) => response.writeHead(status, { Location: `http://127.0.0.1:1/at${request.url}` }).end();
      await withServer([moved], async (url, asked) => {
        const error = await ask(new Sidecall(url)).then(() => undefined, (it) => it);
        assert.ok(error instanceof RequestUnfit, `${error}`);
        assert.equal(error.detail, "the server is at http://127.0.0.1:1/at: give that address");
        assert.deepEqual([error.status, asked.length], [status, 1]);
      });
    }
  });

  test(`${way}: a program that wants no more hears its own reason`, async () => {
    const reason = new Error("the user has left");
    const silent = () => undefined;
    const half = (_request, response) => void response.writeHead(200, { "Content-Type": "application/json" }).write('{"a":');
    for (const answer of [silent, half, tell([], "nothing")]) {
      await withServer([answer], async (url) => {
        const control = new AbortController();
        // Others of these take no signal: it goes with the request itself then.
        const fetch = (place, request) => {
          setTimeout(() => control.abort(reason), 30);
          return globalThis.fetch(place, request);
        };
        const signal = control.signal;
        const client = new Sidecall(url, { fetch });
        const asked = {
          "tools": () => client.tools("openai", { signal }),
          "call": () => client.call("double", {}, { signal }),
          "call that is short": () => client.call("double", {}, { signal, timeout: 50 }),
          "call with a key": () => client.call("double", {}, { signal, key: "k" }),
          "batch": () => client.batch(["double"], { signal }),
          "run": () => client.run(CHAT, { signal }),
          "stream": () => drain(client.stream("double", {}, { signal })),
          "preview": () => client.preview("double", {}, { signal }),
          "job": () => client.job("double", {}, { signal }),
          "job that is shown": () => client.findJob("c").show(0, signal),
        }[way];
        if (asked) assert.equal(await asked().catch((it) => it), reason);
      });
    }
  });
}

test("a time that is over is the reason, too, and bounds what hangs", async () => {
  const half = (_request, response) => void response.writeHead(200, { "Content-Type": "application/json" }).write('{"a":');
  for (const answer of [() => undefined, half, tell([], "nothing")]) {
    await withServer([answer], async (url) => {
      const client = new Sidecall(url);
      for (const ask of [
        (options) => client.call("double", {}, options),
        (options) => client.call("double", {}, { ...options, key: "k" }),
        (options) => client.run(CHAT, options),
        (options) => drain(client.stream("double", {}, options)),
      ]) {
        await assert.rejects(ask({ signal: AbortSignal.timeout(30) }), { name: "TimeoutError" });
      }
    });
  }
  await withServer([() => undefined], async (url) => {
    const client = new Sidecall(url);
    const [call, run, stream, job] = await Promise.all(
      [
        client.call("double", {}, { timeout: 0.01 }),
        client.run(CHAT, { timeout: 0.01 }),
        drain(client.stream("double", {}, { timeout: 0.01 })),
        client.job("double", {}, { timeout: 0.01 }),
      ].map((it) => it.catch((error) => error)),
    );
    for (const error of [call, run, stream, job]) {
      assert.ok(error instanceof ServerUnreachable, `${error}`);
      assert.equal(error.message, "no answer came within 0.01 seconds");
    }
  });
});

test("a place of the server is named without what was asked for there", async () => {
  for (const [place, expected] of [
    ["https://tools.example.com/tool_calls?format=langchain", "https://tools.example.com"],
    ["https://tools.example.com/v1/tool_calls", "https://tools.example.com/v1"],
    ["/below/tool_calls", "URL/below"],
    ["https://login.example.com/?next=1", "https://login.example.com/?next=1"],
  ]) {
    await withServer([say(302, "", { Location: place })], async (url) => {
      const error = await new Sidecall(url).call("double").catch((it) => it);
      assert.equal(error.detail, `the server is at ${expected.replace("URL", url)}: give that address`);
    });
  }
  await withServer([say(301, "")], async (url) => {
    await assert.rejects(new Sidecall(url).call("double"), { detail: "the server answers that it is elsewhere, and not where" });
  });
});

test("a redirect that keeps the request is followed, unless it would lose the credentials", async () => {
  for (const status of [307, 308]) {
    await withServer([say(200, ANSWER)], async (there, asked) => {
      const moved = (request, response) => response.writeHead(status, { Location: `${there}${request.url}` }).end();
      await withServer([moved], async (here) => {
        assert.equal((await new Sidecall(here).call("double", { number: 4 })).content, "8");
        assert.equal(asked[0].method, "POST");
        assert.deepEqual(JSON.parse(asked[0].body).args, { number: 4 });
        for (const options of [{ apiKey: "k" }, { token: () => "k" }, { headers: { Cookie: "a=b" } }, { headers: { "X-Api-Key": "k" } }]) {
          await assert.rejects(new Sidecall(here, options).call("double"), { detail: `the server is at ${there}: give that address` });
        }
        assert.equal(asked.length, 1);
      });
    });
    const inside = [say(status, "", { Location: "/now" }), say(200, ANSWER)];
    await withServer(inside, async (url, asked) => {
      assert.equal((await new Sidecall(url, { apiKey: "k" }).call("double")).content, "8");
      assert.deepEqual([asked[1].url, asked[1].headers.authorization], ["/now", "Bearer k"]);
    });
    for (const place of ["/round", "ftp://127.0.0.1/", "https://", ""]) {
      await withServer([say(status, "", { Location: place })], async (url) => {
        await assert.rejects(new Sidecall(url).call("double"), RequestUnfit);
      });
    }
  }
});

test("events that end without an answer are a lost connection", async () => {
  const progress = ["progress", { tool_call_id: "a", done: 1 }];
  for (const then of ["end", "cut"]) {
    for (const events of [[], [progress]]) {
      await withServer([tell(events, then)], async (url) => {
        const client = new Sidecall(url);
        await assert.rejects(client.call("double"), ServerUnreachable);
        await assert.rejects(client.run(CHAT), ServerUnreachable);
        await assert.rejects(drain(client.stream("double")), ServerUnreachable);
        await assert.rejects(drain(client.stream([{ name: "double", id: "a" }])), ServerUnreachable);
      });
    }
    await withServer([tell([["message", ANSWER]], then)], async (url) => {
      const two = [{ name: "double", id: "a", args: {} }, { name: "double", id: "b", args: {} }];
      await assert.rejects(new Sidecall(url).batch(two), ServerUnreachable);
      await assert.rejects(drain(new Sidecall(url).stream(two)), ServerUnreachable);
    });
  }
});

test("events of another service are unknown", async () => {
  const write = (text) => (_request, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(text);
  for (const text of ["event: message\ndata: hello\n\n", 'event: message\ndata: {"id": 1}\n\n', "data: [1]\n\n"]) {
    await withServer([write(text)], async (url) => {
      await assert.rejects(drain(new Sidecall(url).stream("double")), UnknownAnswer);
      await assert.rejects(new Sidecall(url).call("double"), UnknownAnswer);
    });
  }
});

test("an answer that is cut off is a lost connection", async () => {
  const cut = (_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
    response.write('{"content": "8');
    setTimeout(() => response.destroy(), 20);
  };
  await withServer([cut], async (url) => {
    for (const ask of [(it) => it.tools(), (it) => it.call("double"), (it) => it.batch(["double"])]) {
      await assert.rejects(ask(new Sidecall(url, { retries: 0 })), ServerUnreachable);
    }
  });
});

test("a proxy's words are kept in any form", async () => {
  for (const [body, detail] of [
    [{ message: "no healthy upstream" }, '{"message":"no healthy upstream"}'],
    [{ error: { code: 7, message: "quota" } }, '{"error":{"code":7,"message":"quota"}}'],
    [{ errors: "many", title: "Bad" }, '{"errors":"many","title":"Bad"}'],
    [{ detail: [{ msg: "wrong" }] }, '{"detail":[{"msg":"wrong"}]}'],
    [{ detail: "in words" }, "in words"],
    [{ type: "urn:sidecall:problem:overloaded", title: "No room." }, "No room."],
    ["<h1>Bad gateway</h1>", "<h1>Bad gateway</h1>"],
    [["a"], '["a"]'],
    ["y".repeat(1000), "y".repeat(500)],
  ]) {
    for (const [status, Kind] of [[500, ServerFailed], [401, NotAuthenticated], [418, RequestUnfit]]) {
      await withServer([say(status, body)], async (url) => {
        const error = await new Sidecall(url).call("double").catch((it) => it);
        assert.ok(error instanceof Kind);
        assert.equal(error.detail, detail);
        assert.ok(Array.isArray(error.errors));
        assert.ok(error.message.includes(detail) && !error.message.includes(" :"), error.message);
      });
    }
  }
});

test("what another service tells as an event is shown", async () => {
  for (const [name, data, Kind, detail] of [
    ["error", { message: "no healthy upstream" }, ServerBusy, '{"message":"no healthy upstream"}'],
    ["error", { status: "failed", retry_after: "soon" }, ServerBusy, '{"status":"failed","retry_after":"soon"}'],
    ["problem", { status: 500, detail: "in words" }, ServerFailed, "in words"],
  ]) {
    await withServer([tell([[name, data]])], async (url) => {
      const error = await drain(new Sidecall(url, { retries: 0 }).stream("double")).catch((it) => it);
      assert.ok(error instanceof Kind, `${error}`);
      assert.deepEqual([error.detail, error.retryAfter], [detail, undefined]);
    });
  }
});

test("Retry-After is heeded as a number and as a date", async () => {
  const busy = (wait) => say(503, { type: "urn:sidecall:problem:overloaded", title: "No." }, { "Retry-After": wait });
  const inSeconds = (seconds) => new Date(Date.now() + seconds * 1000).toUTCString();
  for (const [wait, least, most] of [
    ["90", 90, 90],
    [inSeconds(90), 80, 90],
    [inSeconds(-90), 0, 0],
    ["0", 0, 0],
  ]) {
    await withServer([busy(wait)], async (url) => {
      const error = await new Sidecall(url, { retries: 0 }).call("double").catch((it) => it);
      assert.ok(error instanceof ServerBusy);
      assert.ok(error.retryAfter >= least && error.retryAfter <= most, `${wait}: ${error.retryAfter}`);
    });
  }
  for (const wait of ["soon", "-5", "1.5", "5 apples", "Tomorrow"]) {
    await withServer([busy(wait)], async (url) => {
      assert.equal((await new Sidecall(url, { retries: 0 }).call("double").catch((it) => it)).retryAfter, undefined, wait);
    });
  }
  await withServer([busy(inSeconds(300))], async (url, asked) => {
    await assert.rejects(new Sidecall(url).call("double"), ServerBusy);
    assert.equal(asked.length, 1);
  });
  await withServer([busy(inSeconds(-5)), say(200, ANSWER)], async (url) => {
    assert.equal((await new Sidecall(url).call("double")).content, "8");
  });
});

test("a server that nobody has started is tried again, and called unreachable", async () => {
  const url = await findSilent();
  let tried = 0;
  const fetch = (...request) => ((tried += 1), globalThis.fetch(...request));

  await assert.rejects(new Sidecall(url, { fetch, retries: 2 }).call("double"), ServerUnreachable);
  assert.equal(tried, 3);
  const noName = new Sidecall("http://nobody.invalid", { fetch, retries: 1 });
  await assert.rejects(noName.call("double"), ServerUnreachable);
  assert.equal(tried, 5);
});

test("what a call's events say has not begun is sent again", async () => {
  const full = { type: "urn:sidecall:problem:too-many-approvals", title: "No.", status: 503, retry_after: 0 };
  await withServer([tell([["problem", full]]), tell([["message", ANSWER]])], async (url, asked) => {
    assert.equal((await new Sidecall(url).call("double")).content, "8");
    assert.equal(asked.length, 2);
  });
  const ending = { type: "urn:sidecall:problem:shutting-down", title: "No.", status: 503, retry_after: 0 };
  await withServer([tell([["error", ending]])], async (url, asked) => {
    await assert.rejects(new Sidecall(url).call("double"), ServerBusy);
    assert.equal(asked.length, 1);
  });
});
