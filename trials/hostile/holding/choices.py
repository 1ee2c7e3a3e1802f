"""Values that are one of many things, at the bounds of what is sent and returned."""

from typing import Any

import httpx

from trials.hostile.holding.case import Case, Client, ask_over_mcp, call, call_for_openai, send, send_batch

_WRONG = [{"kind": "none", "legs": it} for it in range(16_000)]
_LATE = [{"kind": "heron", "legs": 2}] * 8_000 + _WRONG[:8_000]
_RIGHT = [{"kind": f"kind_{it % 30}", "number": it} for it in range(16_000)]
_NONE = [{"kind": "none", "number": it} for it in range(16_000)]
_SPARSE = [it if number % 200 else {} for number, it in enumerate(_RIGHT)]
_WHOLE = [{"kind": "kind_29", "number": float(it)} for it in range(16_000)]
_WORDS = [f"text {it}" for it in range(49_000)]


def _batch(name: str, argument: str, value: Any) -> Any:
    """Share the values among 128 calls."""
    size = len(value) // 128
    parts = [value[it * size : (it + 1) * size] for it in range(128)]
    return send_batch([{"name": name, "args": {argument: it}, "id": f"call_{place}"} for place, it in enumerate(parts)])


def _batch_names(name: str, argument: str) -> Any:
    """Send 380 names with each of 128 calls."""
    args = {argument: dict.fromkeys(_WORDS[:380], 1)}
    return send_batch([{"name": name, "args": args, "id": f"call_{it}"} for it in range(128)])


def _edit(values: Any) -> Any:
    def ask(client: Client) -> httpx.Response:
        right = {"values": [{"kind": "heron", "legs": 2}]}
        waiting = client.post("/tool_calls", json={"name": "choose_approved", "args": right, "id": "call_1"})
        return client.post(waiting.headers["Location"], json={"decision": "approve", "args": {"values": values}})

    return ask


def _send_state(value: Any) -> Any:
    return send({"name": "choose_nested_state", "args": {}, "id": "1", "state": {"value": value}})


def _nest(levels: int, leaf: Any) -> Any:
    """Return a tree of which each part may be a sum or a product."""
    return {"op": "product", "left": _nest(levels - 1, leaf), "right": 1} if levels else leaf


_SAME_HASH = [number * (2**61 - 1) for number in range(1, 30_000)]
_ADDRESS = "http://" + "\u00e9." * 590_000
_MODELS = [
    Case("values of 30 kinds", "16,000", call("choose_wide", {"values": _RIGHT})),
    Case("values of none of 30 kinds", "16,000", call("choose_wide", {"values": _NONE})),
    Case("some of them", "80 of 16,000", call("choose_wide", {"values": _SPARSE})),
    Case("the same over MCP", "16,000", ask_over_mcp("tools/call", name="choose_wide", arguments={"values": _NONE})),
    Case("the same in a batch", "128 calls", _batch("choose_wide", "values", _NONE)),
    Case("the right ones in a batch", "128 calls", _batch("choose_wide", "values", _RIGHT)),
    Case("values with a wrong tag", "16,000", call("choose_more", {"tagged": _WRONG})),
    Case(
        "values of days that are none",
        "16,000",
        call("choose_more", {"named": dict(zip(_WORDS, _WRONG, strict=False))}),
    ),
    Case("lists of no kind", "16,000 lists", call("choose_more", {"nested": [["x", None]] * 16_000})),
    Case("one list of no kind", "49,000", call("choose_more", {"nested": [_WORDS]})),
    Case("a set of other things", "49,000", call("choose_more", {"colors": _WORDS})),
    Case("pairs with other things", "9,000", call("choose_more", {"pairs": [[it, _WRONG[it]] for it in range(9_000)]})),
    Case("a plant, or many", "16,000", call("choose_more", {"grown": _WRONG})),
    Case("free names", "16,000", call("choose_free", {f"name_{it}": _WRONG[it] for it in range(16_000)})),
    Case("the same as texts", "49,000", call("choose_free", dict.fromkeys(_WORDS, "x"))),
    Case(
        "a state of other things",
        "16,000",
        send({"name": "choose_state", "args": {}, "id": "1", "state": {"messages": _WRONG}}),
    ),
    Case(
        "a context of other things",
        "16,000",
        send({"name": "choose_context", "args": {}, "id": "1", "context": {"values": _LATE}}),
    ),
    Case(
        "one that only looks at it",
        "16,000",
        send({"name": "choose_wide", "args": {"values": _NONE}, "id": "1"}, "/tool_calls?dry_run=true"),
    ),
    Case("arguments in place of others", "16,000", _edit(_WRONG)),
    Case("late ones", "8,000 of 16,000", call("choose_approved", {"values": _LATE})),
]
_SCHEMAS = [
    Case("objects that fit none of 30 forms", "16,000", call("fit", {"one_of": _NONE})),
    Case("some of them", "80 of 16,000", call("fit", {"one_of": _SPARSE})),
    Case("the same by names", "16,000", call("fit", {"any_of": dict(zip(_WORDS, _NONE, strict=False))})),
    Case("the same in a batch", "128 calls", _batch("fit", "one_of", _NONE)),
    Case("the same within lists", "16,000", call("fit", {"nested": [_NONE]})),
    Case("whole numbers with a point", "16,000", call("fit", {"one_of": _WHOLE})),
    Case("texts that match nothing", "49,000", call("fit", {"all_of": _WORDS})),
    Case("names that a schema refuses", "49,000", call("fit", {"closed": dict.fromkeys(_WORDS, 1)})),
    Case("the same in a batch", "128 calls", _batch_names("fit", "closed")),
    Case("names of another form", "49,000", call("fit", {"keys": dict.fromkeys(_WORDS, 1)})),
    Case("the same as OpenAI's arguments", "4 MB", call_for_openai("fit", '{"one_of": [' + "{}, " * 48_000 + "{}]}")),
]
_RESULTS = [
    Case("results that are none of several things", "60,000", call("return_wrongly", {"count": 60_000})),
    Case("results that are models", "60,000", call("return_things", {"count": 60_000})),
    Case("the same as a plain result", "60,000", send({"count": 60_000}, "/tools/return_things/call")),
    Case("the same over MCP", "60,000", ask_over_mcp("tools/call", name="return_things", arguments={"count": 60_000})),
    Case("models by days", "60,000", call("return_named", {"count": 60_000})),
]
_NESTED = [
    Case("choices within each other", "60 levels", call("choose_nested", {"value": _nest(60, 1)})),
    Case("the same, that do not fit", "60 levels", call("choose_nested", {"value": _nest(60, "x")})),
    Case("a few levels of them", "11 levels", call("choose_nested", {"value": _nest(11, 1)})),
    Case("few of them that do not fit", "11 levels", call("choose_nested", {"value": _nest(11, "x")})),
    Case("the same by a schema", "60 levels", call("fit_nested", {"value": _nest(60, 1)})),
    Case("the same, that do not fit", "60 levels", call("fit_nested", {"value": _nest(60, "x")})),
    Case("few of them by a schema", "6 levels", call("fit_nested", {"value": _nest(6, "x")})),
    Case("the same as a state", "60 levels", _send_state(_nest(60, "x"))),
    Case("the same as a result", "60 levels", call("return_nested", {"value": _nest(60, "x")})),
    Case("numbers of one hash", "30,000", call("differ_by_hash", {"numbers": _SAME_HASH})),
    Case("a long pattern", "4 MB", call("read_pattern", {"pattern": "a" * 4_100_000})),
    Case("a long address", "4 MB", call("read_address", {"address": _ADDRESS})),
    Case("a long text of JSON", "4 MB", call("read_text", {"text": "[" + "1," * 2_000_000 + "1]"})),
    Case("a long name of a host", "4 MB", call("fit_nested", {"names": ["\u00e9." * 590_000]})),
    Case("a long pattern by a schema", "4 MB", call("fit_nested", {"pattern": "(" * 4_100_000})),
]
CASES = [*_MODELS, *_SCHEMAS, *_RESULTS, *_NESTED]
