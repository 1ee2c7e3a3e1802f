"""One call in the form of every provider, with what models, their libraries and hostile programs make of it."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Args = dict[str, Any]


def _write_openai(name: str, args: Args) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}


def _write_responses(name: str, args: Args) -> dict[str, Any]:
    return {"type": "function_call", "call_id": "call_1", "name": name, "arguments": json.dumps(args)}


FORMS: Mapping[str, Callable[[str, Args], dict[str, Any]]] = {
    "langchain": lambda name, args: {"name": name, "args": args, "id": "call_1"},
    "openai": _write_openai,
    "openai-responses": _write_responses,
    "anthropic": lambda name, args: {"type": "tool_use", "id": "call_1", "name": name, "input": args},
    "gemini": lambda name, args: {"functionCall": {"id": "call_1", "name": name, "args": args}},
}
# What every form is sent for, by the name of a tool of `two_ways`.
_ASKED: Mapping[str, tuple[str, Args]] = {
    "text": ("echo", {"text": "hello"}),
    "another alphabet": ("echo", {"text": "🙂 ü \u202e"}),
    "no such tool": ("ecko", {"text": "hello"}),
    "a tool of Anthropic's": ("bash", {"command": "ls"}),
    "wrong arguments": ("echo", {"text": [1]}),
    "no arguments": ("refuse", {}),
    "ignored arguments": ("echo", {"text": "hello", "more": 1}),
    "blocks and an artifact": ("report", {"rows": 3}),
    "a failure for the program": ("fail", {"how": "ü"}),
    "a failure for the model": ("refuse", {}),
    "a guardrail": ("guarded", {}),
    "a person": ("delete", {"order": 7}),
    "an answer that is cut": ("much", {}),
    "something left out": ("greet", {}),
}
# What stands beside a call, in any form.
_BESIDE: tuple[dict[str, Any], ...] = (
    {"state": [1.5], "context": {"tenant": "acme"}},
    {"state": None, "context": None, "hash": None},
    {"hash": "nope"},
    {"hash": "h" * 129},
    {"callback_url": "https://example.com/"},
    {"status": "completed"},
    {"status": "incomplete"},
    {"index": 0},
    {"id": None},
    {"id": 7},
    {"call_id": None},
    {"call_id": 7},
    {"type": None},
    {"type": "nope"},
    {"caller": {"type": "direct"}},
    {"caller": None, "namespace": None},
    {"namespace": "crm"},
    {"toolset_name": "crm"},
    {"cache_control": {"type": "ephemeral"}},
    {"async": True},
    {"thoughtSignature": "c2ln"},
    {"executableCode": {"code": "1"}},
    {"args": {"text": "other"}},
    {"arguments": "{}"},
    {"input": {}},
    {"function": {"name": "echo", "arguments": ""}},
    {"functionCall": {"name": "echo", "args": {}}},
    {"text": "hello"},
    {"role": "assistant", "tool_calls": []},
)
# What models write in place of the text of an object.
_TEXTS: tuple[Any, ...] = (
    *("", " ", "{}", "[]", "null", "{", '{"text": NaN}', '{"text": 1e999}', '{"text": "a"} ', "{'text': 'a'}", "7"),
    *(
        '{"text": "a", "text": "b"}',
        '"{\\"text\\": \\"a\\"}"',
        {"text": "a"},
        {},
        [],
        None,
        7,
        {"text": 1e300},
        "\ud800",
    ),
)


def list_asked() -> Iterator[tuple[str, bytes]]:
    """Yield a call for each kind of answer, in every form, with what it is called."""
    for form, write in FORMS.items():
        for what, (name, args) in _ASKED.items():
            yield f"{form}: {what}", json.dumps(write(name, args)).encode()


def list_bodies() -> Iterator[tuple[str, bytes]]:
    """Yield these, and what is not or not quite such a call."""
    yield from list_asked()
    for form, write in FORMS.items():
        body = write("echo", {"text": "a"})
        for beside in _BESIDE:
            yield f"{form}: beside {json.dumps(beside)[:40]}", json.dumps({**body, **beside}).encode()
        for text in _TEXTS:
            shown = json.dumps(text)[:30]
            yield f"{form}: arguments {shown}", json.dumps(_put_arguments(write("echo", {}), text)).encode()
        yield from _list_spoilt(form, json.dumps(body).encode())


def _put_arguments(call: dict[str, Any], arguments: Any) -> dict[str, Any]:
    """Replace the arguments of a call, where its form has them."""
    inner = call.get("function") or call.get("functionCall") or call
    name = next(key for key in ("args", "arguments", "input") if key in inner)
    inner[name] = arguments
    return call


def _list_spoilt(form: str, body: bytes) -> Iterator[tuple[str, bytes]]:
    for end in (
        b', "name": "nope"}',
        b', "id": "call_2"}',
        b', "state": NaN}',
        b', "context": {"a": [-1e999]}}',
        b"",
        b"}}",
    ):
        yield f"{form}: ends with {end.decode()}", body[:-1] + end
    yield f"{form}: the key of another form first", b'{"context": {"input": 1, "args": 2}, ' + body[1:]
    yield (
        f"{form}: without an id",
        body.replace(b'"call_id": "call_1", ', b"").replace(b'"id": "call_1", ', b"").replace(b', "id": "call_1"', b""),
    )
    yield f"{form}: without blanks", json.dumps(json.loads(body), separators=(",", ":")).encode()
    yield f"{form}: with more blanks", json.dumps(json.loads(body), indent=4).replace('":', '"\t:').encode()
    yield f"{form}: backwards", json.dumps(dict(reversed(json.loads(body).items()))).encode()
