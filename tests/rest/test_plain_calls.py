"""A call in its usual form is read in one step, as the dialects would have read it."""

import json
from typing import Any

import pytest
from msgspec import structs

from sidecall import Registry
from sidecall.kernel.json_data.text import parse_json
from sidecall.rest.dialect_readers import read_batched
from sidecall.rest.parsed_call import ReceivedCall
from sidecall.rest.plain_calls import read_other_call, read_plain_call, read_plain_calls, read_plain_item
from tests.rest.forms import FORMS, list_asked, list_bodies
from tests.rest.two_ways import TOOLS

REGISTRY = Registry(TOOLS)
BODIES = dict(list_bodies())
# What programs send every day, as their libraries write it.
EVERYDAY: dict[str, Any] = {
    "LangChain's": {"name": "echo", "args": {"text": "a"}, "id": "call_1", "type": "tool_call"},
    "without an id": {"name": "echo", "args": {"text": "a"}},
    "with an id of null": {"name": "echo", "args": {"text": "a"}, "id": None},
    "of Chat Completions, in the order of OpenAI's library": {
        "id": "call_1",
        "function": {"arguments": "{}", "name": "echo"},
        "type": "function",
    },
    "of Chat Completions, in a stream": {
        "index": 0,
        "id": "call_1",
        "function": {"arguments": "{}", "name": "echo"},
        "type": "function",
    },
    "of Chat Completions, with an object": {"function": {"name": "echo", "arguments": {"text": "a"}}},
    "of the Responses API, whole": {
        "arguments": "{}",
        "call_id": "call_1",
        "name": "echo",
        "type": "function_call",
        "id": "fc_1",
        "caller": None,
        "namespace": None,
        "status": "completed",
    },
    "of Anthropic's": {"id": "call_1", "input": {}, "name": "echo", "type": "tool_use", "caller": {"type": "direct"}},
    "of Gemini's without an id": {"functionCall": {"name": "echo", "args": {}}},
    "of Gemini's with what it thought": {
        "functionCall": {"id": "call_1", "name": "echo", "args": {}},
        "thoughtSignature": "c2ln",
    },
    "with what is beside it": {"name": "echo", "args": {}, "state": {"a": 1}, "context": {"b": 2}, "hash": "h"},
}


def _compare(sent: ReceivedCall) -> ReceivedCall:
    """Return a call without the id that it was given here."""
    is_minted = sent.call.id.startswith("call_") and len(sent.call.id) == len("call_") + 32
    return structs.replace(sent, call=sent.call.model_copy(update={"id": "*"})) if is_minted else sent


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in BODIES.items()])
def test_what_is_read_at_once_is_what_the_dialects_read(body: bytes) -> None:
    """What they refuse, and what they read in another way, is left to them."""
    read = read_plain_call(body, REGISTRY)

    if read is not None:
        assert _compare(read) == _compare(read_other_call(body, REGISTRY))


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in BODIES.items()])
def test_what_stands_in_a_batch_is_read_alike(body: bytes) -> None:
    """It was parsed before."""
    try:
        item = parse_json(body)
    except ValueError:
        return
    read = read_plain_item(item, REGISTRY)

    if read is not None:
        assert _compare(read) == _compare(read_batched(item, REGISTRY))


@pytest.mark.parametrize("call", [pytest.param(call, id=name) for name, call in EVERYDAY.items()])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["close", "loose"])
def test_what_is_sent_every_day_is_read_at_once(call: dict[str, Any], separators: tuple[str, str]) -> None:
    """And as the dialects read it."""
    body = json.dumps(call, separators=separators).encode()

    read = read_plain_call(body, REGISTRY)

    assert read is not None
    assert _compare(read) == _compare(read_other_call(body, REGISTRY))


def test_every_form_is_read_at_once_whatever_is_asked() -> None:
    """But for the name that Anthropic's models have for a tool of another."""
    unread = [name for name, body in list_asked() if read_plain_call(body, REGISTRY) is None]

    assert (len(FORMS), unread) == (5, ["anthropic: a tool of Anthropic's"])


def test_calls_of_every_form_are_read_at_once_from_one_array() -> None:
    """Each as if it had come alone."""
    calls = [json.dumps(call).encode() for call in EVERYDAY.values()]

    read = read_plain_calls(b"[%s]" % b" , ".join(calls), len(calls), REGISTRY)

    assert read is not None
    assert [*map(_compare, read)] == [_compare(read_other_call(call, REGISTRY)) for call in calls]


CALL = b'{"name": "echo", "args": {"text": "a"}}'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"[%s" % CALL, id="cut off"),
        pytest.param(b"[%s]]" % CALL, id="with something behind it"),
        pytest.param(b"[%s, 1]" % CALL, id="with something else in it"),
        pytest.param(b'[%s, {"type": "text", "text": "args"}]' % CALL, id="with talk"),
        pytest.param(b"[%s]" % CALL.replace(b'"a"', b"NaN"), id="with no JSON in a call"),
        pytest.param(b"[%s]" % CALL.replace(b'"a"', b'"\xff"'), id="with no UTF-8 in a call"),
        pytest.param(b"[%s]" % CALL.replace(b'"a"', b"[" * 250 + b"]" * 250), id="nested too deep"),
        pytest.param(b"[" * 30_000, id="nested beyond all bounds"),
        pytest.param(b"[%s]" % b",".join([CALL] * 4), id="more than may be"),
        pytest.param(b"[%s]" % CALL.replace(b'"a"', b'"%s"' % (b"a" * 70_000)), id="large"),
        pytest.param(b'{"calls": [%s]}' % CALL, id="in an object"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_other_bodies_are_left_to_those_who_explain(body: bytes) -> None:
    """Some of them are read in the other way, and others are refused there."""
    assert read_plain_calls(body, 3, REGISTRY) is None
