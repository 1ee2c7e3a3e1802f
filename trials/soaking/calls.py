"""Calls that are answered at once: every dialect, executor and way, right and wrong."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from trials.soaking.guest import EVENTS, Act, Guest, Refused, expect, expect_kind, read_events

_BAD_BODIES = (b"{", b"\xff\xfe", b'{"name": NaN}', b'"add"', b"[" * 1000, b'{"name": "add", "args": 5}')


def _write_for(dialect: str, call_id: str, a: int, b: int) -> tuple[Any, Callable[[Any], Any]]:
    """Return a call in a dialect, and what reads its id and its text from the answer."""
    args, text = {"a": a, "b": b}, json.dumps({"a": a, "b": b})
    if dialect == "openai":
        asked: Any = {"id": call_id, "type": "function", "function": {"name": "add", "arguments": text}}
        return asked, lambda said: (said["tool_call_id"], said["content"])
    if dialect == "openai-responses":
        asked = {"type": "function_call", "call_id": call_id, "name": "add", "arguments": text}
        return asked, lambda said: (said["call_id"], said["output"])
    if dialect == "anthropic":
        asked = {"type": "tool_use", "id": call_id, "name": "add", "input": args}
        return asked, lambda said: (said["tool_use_id"], said["content"])
    if dialect == "gemini":
        asked = {"functionCall": {"id": call_id, "name": "add", "args": args}}
        return asked, lambda said: (said["functionResponse"]["id"], said["functionResponse"]["response"]["output"])
    asked = {"name": "add", "args": args, "id": call_id, "type": "tool_call"}
    return asked, lambda said: (said["tool_call_id"], said["content"])


def _calling_in(dialect: str) -> Act:
    async def act(guest: Guest) -> None:
        call_id, a, b = guest.new_id(), guest.dice.randrange(1000), guest.dice.randrange(1000)
        asked, read = _write_for(dialect, call_id, a, b)
        answer = await guest.ask("POST", "/tool_calls", asked)
        found_id, found = read(answer.json)
        expect((found_id, str(found)), (call_id, str(a + b)))

    return act


def _calling(name: str, wanted: str, **args: Any) -> Act:
    async def act(guest: Guest) -> None:
        answer = await guest.call(name, args)
        expect((answer.json["status"], answer.content), ("success", wanted))

    return act


def _failing(name: str, kind: str, **args: Any) -> Act:
    async def act(guest: Guest) -> None:
        expect_kind(await guest.call(name, args), kind)

    return act


async def _send_batch(guest: Guest) -> None:
    asked: list[Mapping[str, Any]] = [
        *({"name": "add", "args": {"a": 1, "b": number}, "id": f"call_{number}"} for number in range(4)),
        {"name": "pause", "args": {"seconds": 0.01}, "id": "call_4"},
        {"name": "fail", "args": {"text": "no"}, "id": "call_5"},
        {"name": "nobody_has_this", "args": {}, "id": "call_6"},
        {"name": "add", "args": {"a": "one"}, "id": "call_7"},
        _write_for("anthropic", "call_8", 3, 4)[0],
        _write_for("gemini", "call_9", 5, 6)[0],
    ]
    streams = guest.dice.random() < 0.5
    answer = await guest.ask("POST", "/tool_calls/batch", asked, headers=EVENTS if streams else None)
    said = [what for kind, what in read_events(answer) if kind == "message"] if streams else answer.json
    found = {one.get("tool_call_id") or one.get("tool_use_id") or one["functionResponse"]["id"]: one for one in said}
    kinds = [found[f"call_{number}"]["status"] for number in range(8)]
    # Single calls of a batch are refused in their places.
    errors = [((one.get("response_metadata") or {}).get("error") or {}).get("kind") for one in found.values()]
    if "overloaded" in errors:
        raise Refused
    expect((len(found), kinds), (10, ["success"] * 5 + ["error"] * 3))
    expect([found[f"call_{number}"]["content"] for number in range(5)], ["1", "2", "3", "4", "done"])
    expect(found["call_8"]["content"], "7")


def _reading_parts(name: str, made: int, wanted: str, **args: Any) -> Act:
    async def act(guest: Guest) -> None:
        answer = await guest.call(name, args, headers=EVENTS)
        events = read_events(answer)
        if events[-1][0] == "problem":
            raise Refused
        parts = [what["content"] for kind, what in events if kind == "partial"]
        expect((len(parts), "".join(parts), events[-1][1]["content"]), (made, wanted, wanted))

    return act


async def _hear_progress(guest: Guest) -> None:
    events = read_events(await guest.call("hold", {"seconds": 0.02}, headers=EVENTS))
    expect([kind for kind, _ in events], ["progress", "progress", "message"])
    expect(events[-1][1]["content"], "held")


async def _send_badly(guest: Guest) -> None:
    answer = await guest.ask("POST", "/tool_calls", guest.dice.choice(_BAD_BODIES), status=(400, 422))
    expect(answer.json["status"], answer.status)


async def _ask_for_nothing(guest: Guest) -> None:
    expect_kind(await guest.call(f"nobody_has_{guest.dice.randrange(10**9)}", {}), "unknown_tool")


async def _send_wrongly(guest: Guest) -> None:
    """Send what does not fit, and what is mended."""
    expect_kind(await guest.call("add", {"a": "one", "b": 2}), "invalid_arguments")
    mended = await guest.call("add", {"A": 1, "b": "2"})
    expect(mended.content, "3")


async def _send_state(guest: Guest) -> None:
    call = {"name": "recall", "args": {}, "id": guest.new_id()}
    answer = await guest.ask("POST", "/tool_calls", {**call, "state": {"messages": [1, 2, 3]}})
    expect(answer.content, "3")
    await guest.ask("POST", "/tool_calls", call, status=422)


async def _try_it(guest: Guest) -> None:
    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": guest.new_id()}
    answer = await guest.ask("POST", "/tool_calls?dry_run=true", call)
    expect(answer.json["would_run"], True)


async def _call_plainly(guest: Guest) -> None:
    """Call as an OpenAPI client does."""
    a, b = guest.dice.randrange(1000), guest.dice.randrange(1000)
    expect((await guest.ask("POST", "/tools/add/call", {"a": a, "b": b})).json, a + b)
    await guest.ask("POST", "/tools/add/call", {"a": "one"}, status=422)
    await guest.ask("POST", "/tools/divide/call", {"a": 1, "b": 0}, status=500)


async def _echo_much(guest: Guest) -> None:
    value = [{"number": number, "text": "ä" * 20} for number in range(guest.dice.randrange(2000))]
    answer = await guest.call("echo", {"value": value})
    expect(json.loads(answer.content), value)


async def _read_at_length(guest: Guest) -> None:
    """Call for more than fits, and fetch the whole, which may have made room for a newer one by then."""
    answer = await guest.call("tell_all", {"size": 1_100_000})
    place = answer.json["response_metadata"]["artifact_url"]
    kept = await guest.ask("GET", place, status=(200, 404))
    if kept.status != 404:
        expect(len(kept.body), 1_100_000)


async def _leave(guest: Guest) -> None:
    name, args, headers = guest.dice.choice(
        (
            ("pause", {"seconds": 1.0}, {}),
            ("doze", {"seconds": 0.1}, {}),
            ("doze_apart", {"seconds": 1.0}, {}),
            ("report", {"steps": 5000}, EVENTS),
            ("count", {"parts": 100_000}, EVENTS),
        )
    )
    call = {"name": name, "args": args, "id": guest.new_id()}
    await guest.leave(guest.write("POST", "/tool_calls", call, headers=headers))


_RECITED = "".join(f"part {step} " for step in range(20))
_COUNTED = "".join(f"{number} " for number in range(1000))
# What is done, and how often in proportion.
ACTS: Mapping[str, tuple[int, Act]] = {
    "LangChain": (100, _calling_in("langchain")),
    "Chat Completions": (60, _calling_in("openai")),
    "Responses": (60, _calling_in("openai-responses")),
    "Anthropic": (60, _calling_in("anthropic")),
    "Gemini": (60, _calling_in("gemini")),
    "inline": (60, _calling("add_inline", "3", a=1, b=2)),
    "process": (20, _calling("add_apart", "3", a=1, b=2)),
    "batch": (30, _send_batch),
    "parts": (20, _reading_parts("report", 20, _RECITED, steps=20)),
    "parts from a thread": (20, _reading_parts("recite", 20, _RECITED, steps=20)),
    "many parts": (5, _reading_parts("count", 1000, _COUNTED, parts=1000)),
    "progress": (20, _hear_progress),
    "tool error": (20, _failing("fail", "tool_error", text="no")),
    "crash": (20, _failing("divide", "execution_error", a=1, b=0)),
    "timeout": (4, _failing("run_late", "timeout")),
    "timeout in a thread": (4, _failing("run_late_in_thread", "timeout")),
    "timeout in a process": (3, _failing("run_late_apart", "timeout")),
    "wrong arguments": (30, _send_wrongly),
    "unknown tool": (20, _ask_for_nothing),
    "bad body": (20, _send_badly),
    "state": (20, _send_state),
    "dry run": (10, _try_it),
    "plain arguments": (20, _call_plainly),
    "large arguments": (10, _echo_much),
    "large result": (5, _read_at_length),
    "clients that leave": (15, _leave),
}
