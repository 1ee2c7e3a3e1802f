"""Requests that are answered on the short way in front of the framework, or through it, and must be answered alike."""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any

from sidecall import (
    InjectedToolArg,
    Registry,
    ToolException,
    ToolGuardrailFunctionOutput,
    tool,
)
from sidecall.http.application import Application
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.http.test_hostile_input import NOT_JSON, calling
from tests.kit.asgi import JSON, Passing, Peer, exchange, scope_of, sized
from tests.kit.tools import echo
from tests.rest.forms import FORMS as PROVIDERS
from tests.rest.forms import list_asked
from tests.rest.test_dialect_readers import CALLS
from tests.rest.test_hostile_calls import NOT_CALLS

Pairs = list[tuple[str, str]]
Sent = tuple[str, str, Pairs, bytes]


@tool(response_format="content_and_artifact", tags=["web"])
async def report(rows: int = 2) -> tuple[list[Any], list[int]]:
    """Answer with blocks and an artifact."""
    return [{"type": "text", "text": "ü" * rows}], list(range(rows))


@tool(handle_tool_error=None)
async def fail(how: str = "") -> None:
    """Fail, and let the calling program know."""
    raise ToolException(how or "No.", retryable=True)


@tool
async def refuse() -> None:
    """Fail, and let the model know."""
    raise ToolException("No.", retry_after=2)


@tool(tool_input_guardrails=[lambda _: ToolGuardrailFunctionOutput.raise_exception()])
async def guarded() -> None:
    """Never run."""


@tool(requires_approval=True)
async def delete(order: int) -> str:
    """Wait for a person."""
    return f"deleted {order}"


@tool
async def greet(tenant: Annotated[str, InjectedToolArg]) -> str:
    """Say who asks."""
    return tenant


@tool(max_content_bytes=200)
async def much() -> str:
    """Answer with much."""
    return "ü" * 1000


TOOLS = [echo, report, fail, refuse, guarded, delete, greet, much]


def make_app(*, is_door_open: bool) -> Application:
    """Build a server whose every tool is offered."""
    app = create_app(Settings(max_body_bytes=300_000), Registry(TOOLS))
    if not is_door_open:
        app.add_middleware(Passing)
    return app


def _post(body: bytes | Mapping[str, Any], *headers: tuple[str, str]) -> Sent:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return "POST", "/tool_calls", sized(content, *headers), content


def _call(name: str, **beside: Any) -> dict[str, Any]:
    return {"name": name, "args": beside.pop("args", {}), "id": "call_1", **beside}


_ECHO = _call("echo", args={"text": "hello"})
_ECHO_BODY = json.dumps(_ECHO).encode()
_TAGS = ['"nope"', "*", '"nope", *', "W/*", "", ",", "é", '"']
_TEXT_ARGS = b'{"text": "hello"}'

ORDINARY: dict[str, Sent] = {
    **{f"a call of {dialect}": _post(call) for dialect, call in CALLS.items()},
    "a call without an id": _post({"name": "echo", "args": {"text": "hello"}}),
    "a call whose id is a number": _post({**_ECHO, "id": 7}),
    "a call whose id is empty": _post({**_ECHO, "id": ""}),
    "a call with a type": _post({**_ECHO, "type": "tool_call"}),
    "a call whose type is null": _post({**_ECHO, "type": None}),
    "a call without arguments": _post({"name": "report", "args": None, "id": "call_1"}),
    "a call with more than is known": _post({**_ECHO, "index": 0}),
    "a call with all beside it": _post({**_ECHO, "state": [1.5], "context": {"tenant": "acme"}}),
    "a call with nulls beside it": _post({**_ECHO, "state": None, "context": None}),
    "a call that needs what is beside it": _post(_call("greet", context={"tenant": "acme"})),
    "a call whose caller left something out": _post(_call("greet")),
    "a call in another alphabet": _post(_call("echo", args={"text": "🙂 ü \u202e"})),
    "a call of a tool that does not exist": _post(_call("ecko")),
    "a call whose arguments do not fit": _post(_call("echo", args={"text": [1]})),
    "a call with arguments that are ignored": _post(_call("echo", args={"text": "hello", "more": 1})),
    "a call with blocks and an artifact": _post(_call("report", args={"rows": 3})),
    "a call whose failure is for the program": _post(_call("fail", args={"how": "ü"})),
    "a call whose failure is for the model": _post(_call("refuse")),
    "a call that a guardrail refuses": _post(_call("guarded")),
    "a call that waits for a person": _post(_call("delete", args={"order": 7}, state={"user": "ann"})),
    "a call whose answer is cut": _post(_call("much")),
    "a listing": ("GET", "/tools", [], b""),
    "a listing for another provider": ("GET", "/tools?format=anthropic", [], b""),
    "a listing of some": ("GET", "/tools?tag=web&name=report&name=echo", [], b""),
    "a listing of none": ("GET", "/tools?tag=nope", [], b""),
    "a listing in no known form": ("GET", "/tools?format=nope", [], b""),
    "a listing with a query that is not known": ("GET", "/tools?nope=1", [], b""),
}

FORMS: dict[str, Sent] = {name: _post(body) for name, body in list_asked()}

_BATCHES: dict[str, Any] = {
    "every form": [json.loads(body) for _, body in list_asked() if b"delete" not in body],
    "one": [_ECHO],
    "none": [],
    "an object": {"calls": [_ECHO], "state": 1, "context": {"tenant": "acme"}},
    "a context for all": {"calls": [_call("greet")], "context": {"tenant": "acme"}},
    "one of them without its context": [_ECHO, _call("greet")],
    "something else among them": [_ECHO, 7, {"text": "a"}, {"nope": 1}],
    "a message": {"role": "assistant", "tool_calls": [write("echo", {"text": "a"}) for write in [PROVIDERS["openai"]]]},
    "with a webhook": [{**_ECHO, "callback_url": "https://example.com/"}],
    "with a hash": [{**_ECHO, "hash": "nope"}],
    "with what one is sent": _ECHO,
    "a text": "a",
    "too many": [_ECHO] * 200,
}


def _over_mcp(name: str, args: Mapping[str, Any], *headers: tuple[str, str], **meta: Any) -> Sent:
    params = {"name": name, "arguments": args, **({"_meta": meta} if meta else {})}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    return "POST", "/mcp", sized(body, *headers), body


_OF_MCP = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
_MODERN = (("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"))
# What is asked of several calls, of one tool, over MCP, and of the process.
DOORS: dict[str, Sent] = {
    **{
        f"a batch: {what}": ("POST", "/tool_calls/batch", sized(body), body)
        for what, body in ((what, json.dumps(calls).encode()) for what, calls in _BATCHES.items())
    },
    **{
        f"a batch with {name}: {value}": ("POST", "/tool_calls/batch", sized(b"[]", (name, value)), b"[]")
        for name, value in (
            ("prefer", "wait=5"),
            ("idempotency-key", "key-1"),
            ("if-match", '"nope"'),
            ("x-sidecall-conversation", "no conversation"),
        )
    },
    **{
        f"by plain arguments: {what}": ("POST", f"/tools/{name}/call", sized(body), body)
        for what, name, body in (
            ("text", "echo", b'{"text": "hello"}'),
            ("another alphabet", "echo", '{"text": "\u00fc"}'.encode()),
            ("blocks and an artifact", "report", b'{"rows": 3}'),
            ("a failure for the program", "fail", b"{}"),
            ("a failure for the model", "refuse", b"{}"),
            ("a guardrail", "guarded", b"{}"),
            ("a person", "delete", b'{"order": 7}'),
            ("something left out", "greet", b"{}"),
            ("an answer that is cut", "much", b"{}"),
            ("nothing", "much", b""),
            ("an empty array", "much", b"[]"),
            ("an array", "much", b"[1]"),
            ("a text", "much", b'"a"'),
            ("no JSON", "much", b"{"),
            ("NaN", "echo", b'{"text": NaN}'),
            ("wrong arguments", "echo", b'{"text": 1}'),
            ("ignored arguments", "echo", b'{"text": "a", "more": 1}'),
            ("no such tool", "ecko", b"{}"),
            ("no tool's name", "ecko!", b"{}"),
            ("a name that is a route", "search", b"{}"),
        )
    },
    **{
        f"by plain arguments with {name}: {value}": (
            "POST",
            "/tools/echo/call",
            sized(_TEXT_ARGS, (name, value)),
            _TEXT_ARGS,
        )
        for name, value in (
            ("prefer", "wait=5"),
            ("prefer", "respond-async"),
            ("idempotency-key", "key-1"),
            ("if-match", '"nope"'),
            ("accept", "text/event-stream"),
            ("x-sidecall-context", '{"tenant": "acme"}'),
            ("x-sidecall-context", "{"),
            ("x-sidecall-conversation", "c-1"),
            ("x-sidecall-conversation", "no conversation"),
            ("cache-control", "no-cache"),
        )
    },
    **{
        f"over MCP: {what}": _over_mcp(name, args, *headers, **meta)
        for what, name, args, headers, meta in (
            ("text", "echo", {"text": "hello"}, [], {}),
            ("text, in a later revision", "echo", {"text": "hello"}, [*_MODERN, ("mcp-name", "echo")], _OF_MCP),
            ("text, under another name", "echo", {"text": "hello"}, [*_MODERN, ("mcp-name", "report")], _OF_MCP),
            ("text, in no known revision", "echo", {"text": "hello"}, [("mcp-protocol-version", "1")], {}),
            ("text, in a conversation", "echo", {"text": "hello"}, [("x-sidecall-conversation", "c-1")], {}),
            ("text, in no conversation", "echo", {"text": "hello"}, [("x-sidecall-conversation", "no one")], {}),
            ("another alphabet", "echo", {"text": "\u00fc"}, [], {}),
            ("blocks and an artifact", "report", {"rows": 3}, [], {}),
            ("a failure for the program", "fail", {}, [], {}),
            ("a failure for the model", "refuse", {}, [], {}),
            ("a guardrail", "guarded", {}, [], {}),
            ("something left out", "greet", {}, [], {}),
            ("an answer that is cut", "much", {}, [], {}),
            ("wrong arguments", "echo", {"text": 1}, [], {}),
            ("ignored arguments", "echo", {"text": "a", "more": 1}, [], {}),
            ("no such tool", "ecko", {}, [], {}),
        )
    },
    **{
        f"{method} {target}": (method, target, [], b"")
        for method in ("GET", "HEAD", "POST", "DELETE")
        for target in (
            *(
                "/healthz",
                "/readyz",
                "/healthz?a=1",
                "/readyz/",
                "/tools/echo",
                "/tools/echo/",
                "/tools/",
                "/tools//call",
            ),
            *("/tools/ecko", "/tools/echo?a=1", "/tools/search", "/tools/search?q=echo", "/tools/echo/call"),
            *("/tools/echo/call/", "/tools/echo/calls", "/tools/echo/call?a=1", "/tools/echo/call?timeout=5"),
        )
    },
    **{f"one tool, if-none-match: {tag!r}": ("GET", "/tools/echo", [("if-none-match", tag)], b"") for tag in _TAGS},
}

_EVENTS = ("accept", "text/event-stream")
# The same, where the answer is asked for as events.
STREAMS: dict[str, Sent] = {
    f"{name}, as events": (method, target, [*headers, _EVENTS], body)
    for name, (method, target, headers, body) in (
        *((name, sent) for name, sent in ORDINARY.items() if sent[0] == "POST"),
        *((name, sent) for name, sent in FORMS.items() if name.startswith(("openai:", "gemini:"))),
        *((name, sent) for name, sent in DOORS.items() if sent[1] == "/tool_calls/batch"),
        *(
            (f"{name}: {value}", _post(_ECHO, (name, value)))
            for name, value in (
                ("prefer", "wait=5"),
                ("idempotency-key", "key-1"),
                ("if-match", '"nope"'),
                ("cache-control", "no-cache"),
                ("x-sidecall-conversation", "no conversation"),
                ("x-request-id", "mine-1"),
            )
        ),
        ("a body that is none", _post(b"{")),
        ("a call with a webhook", _post({**_ECHO, "callback_url": "https://example.com/"})),
    )
}

_LENGTHS = ["0", "1", "+5", "-1", "5 ", "0x10", "1_0", "0" * 30 + "5", "9" * 17, "9" * 18, "9" * 5000, "²", "nope", ""]
_TYPES = [
    "application/json; charset=utf-8",
    "Application/JSON",
    " application/json ",
    "application/vnd.acme+json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "",
    "application/json, text/plain",
]
_ACCEPTS = [
    *("*/*", "application/json", "text/html", "text/event-stream", "text/event-stream, */*", "", "TEXT/Event-Stream"),
    *("text/event-stream;q=0.5, application/json", "application/json;q=0.5, text/event-stream"),
    *("text/event-stream;q=0", "x/event-stream", '"text/event-stream"', "text/event-streams"),
]
_IDS = ["mine-1", "a" * 128, "a" * 129, "with space", "é", "x\r\ny", ""]

HOSTILE: dict[str, Sent] = {
    **{f"not JSON: {name}": _post(body) for name, body in NOT_JSON.items()},
    **{f"no call: {case.id}": _post(case.values[0].encode()) for case in NOT_CALLS},
    **{
        f"numbers: {number[:9]}, {len(number)}": _post(calling(number))
        for number in ("1e999", "-1e999", "1e-999", "-0", "9" * 400, "9" * 4300, "9" * 4301, "9" * 400 + ".0")
    },
    **{
        f"beside: {beside}": _post(_ECHO_BODY[:-1] + beside.encode() + b"}")
        for beside in (
            ', "state": NaN',
            ', "state": 1e999',
            ', "state": [[-1e999]]',
            ', "context": {"a": {"b": Infinity}}',
            ', "context": []',
            ', "context": "x"',
            ', "state": "\\ud800"',
            ', "name": "nope"',
            ', "name": 1',
            ', "id": null',
            ', "args": {}',
            ', "args": null',
            ', "type": "function"',
            ', "type": []',
            ', "input": {}',
            ', "": 1',
        )
    },
    **{f"depth: {depth}": _post(calling("[" * depth + "]" * depth)) for depth in (150, 196, 197, 198, 199, 200, 201)},
    **{
        f"length: {length[:20]!r}, {len(length)}": ("POST", "/tool_calls", [("content-length", length), JSON], b"")
        for length in _LENGTHS
    },
    "no length": ("POST", "/tool_calls", [JSON], _ECHO_BODY),
    "a length over the limit": ("POST", "/tool_calls", [("content-length", "300001"), JSON], _ECHO_BODY),
    "a length at the limit": _post(_ECHO_BODY + b" " * (300_000 - len(_ECHO_BODY))),
    "a body over the limit": _post(_ECHO_BODY + b" " * (300_001 - len(_ECHO_BODY))),
    **{
        f"type: {kind!r}": ("POST", "/tool_calls", [("content-length", "70"), ("content-type", kind)], _ECHO_BODY)
        for kind in _TYPES
    },
    **{f"accept: {accept!r}": _post(_ECHO, ("accept", accept)) for accept in _ACCEPTS},
    **{f"request id: {sent[:10]!r}, {len(sent)}": _post(_ECHO, ("x-request-id", sent)) for sent in _IDS},
    **{f"request id of a listing: {sent[:10]!r}": ("GET", "/tools", [("x-request-id", sent)], b"") for sent in _IDS},
    **{f"if-none-match: {tag!r}": ("GET", "/tools", [("if-none-match", tag)], b"") for tag in _TAGS},
    "two types": _post(_ECHO, ("content-type", "text/plain")),
    "two types, the other first": ("POST", "/tool_calls", [("content-type", "text/plain"), *sized(_ECHO_BODY)], b"{}"),
    "two request ids": _post(_ECHO, ("x-request-id", "one"), ("x-request-id", "two")),
    "two request ids of a listing": ("GET", "/tools", [("x-request-id", "one"), ("x-request-id", "two")], b""),
    "two accepts": _post(_ECHO, ("accept", "*/*"), ("accept", "text/event-stream")),
    "two accepts, the other first": _post(_ECHO, ("accept", "text/event-stream"), ("accept", "*/*")),
    "two tags": ("GET", "/tools", [("if-none-match", '"nope"'), ("if-none-match", "*")], b""),
    "two tags, the other first": ("GET", "/tools", [("if-none-match", "*"), ("if-none-match", '"nope"')], b""),
    **{
        f"{method} {target}": (method, target, sized(_ECHO_BODY), _ECHO_BODY)
        for method in ("HEAD", "GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get")
        for target in ("/tool_calls", "/tools", "/tools/", "/tool_calls/", "//tools", "/tool_calls?format=openai")
    },
}

# Ids, times and durations, which differ from request to request.
_CHANGING = re.compile(
    rb"(?P<uuid>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})|(?<=call_)[0-9a-f]{32}|(?<=contents/)[0-9a-f]{32}"
    rb"|(?<=\"duration_ms\":)[0-9.e-]+|(?<=_at\":\")[0-9TZ:.+-]+"
)


def comparable(peer: Peer) -> dict[str, Any]:
    """Give an answer without what differs from request to request; its length is right, or it is none."""
    names = [name for name, _ in peer.headers]
    lengths = [value == str(len(peer.content)) for name, value in peer.headers if name == "content-length"]
    said = {
        name: _CHANGING.sub(b"*", value.encode("latin-1")) for name, value in peer.headers if name != "content-length"
    }
    body = _CHANGING.sub(b"*", peer.content)
    return {"status": peer.status, "names": names, "headers": said, "is_length_right": lengths, "body": body}


async def ask(app: Application, sent: Sent, **changes: Any) -> Peer:
    """Send such a request."""
    method, target, headers, body = sent
    return await exchange(app, {**scope_of(method, target, headers), **changes}, body)
