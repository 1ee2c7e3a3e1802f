"""What an operation of OpenAPI has no place for is refused with the right place, or noted; it is never just lost."""

from typing import Any

import httpx
import pytest
import respx

from sidecall import from_openapi
from tests.kit.calls import run

SERVICE = "http://127.0.0.1:9"
CAT = {"type": "object", "properties": {"lives": {"type": "integer"}}, "required": ["lives"]}
DOG = {"type": "object", "properties": {"bark": {"type": "string"}}, "required": ["bark"]}
OBJECT = {"type": "object"}
BODIES: dict[str, Any] = {
    "free": {"schema": OBJECT},
    "anything": {"schema": {}},
    "either": {"schema": {"oneOf": [CAT, DOG]}},
    "counts": {"schema": {"type": "object", "additionalProperties": {"type": "integer"}}},
    "list": {"schema": {"type": "array", "items": CAT}},
    "members": {"schema": {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}}},
}
NUMBER, LIST = {"type": "integer"}, {"type": "array", "items": {"type": "integer"}}
PET = [
    {"name": "id", "in": "path", "required": True, "schema": NUMBER},
    {"name": "limit", "in": "query", "schema": NUMBER},
    {"name": "ids", "in": "query", "schema": LIST},
    {"name": "x-count", "in": "header", "schema": NUMBER},
]
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        **{
            f"/{name}": {"post": {"operationId": name, "requestBody": {"content": {"application/json": body}}}}
            for name, body in BODIES.items()
        },
        "/wanted": {
            "post": {
                "operationId": "wanted",
                "requestBody": {"required": True, "content": {"application/json": {"schema": OBJECT}}},
            }
        },
        "/pets/{id}": {"get": {"operationId": "pet", "parameters": PET}},
    },
}
TOOLS = {it.name: it for it in from_openapi(DOCUMENT, name="api", base_url=SERVICE, private=True).get_tools()}


async def send(name: str, args: dict[str, Any]) -> tuple[Any, list[httpx.Request]]:
    """Call a tool, and return its message and the requests that it has made."""
    with respx.mock(assert_all_called=False) as service:
        service.route().respond(200, text="ok")
        message = await run(TOOLS[f"api__{name}"], args)
        return message, [call.request for call in service.calls]


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("free", {"a": 1}, "a: There is no such argument; did you mean body.a?"),
        ("wanted", {"a": 1}, "a: There is no such argument; did you mean body.a?"),
        ("anything", {"a": 1}, "a: There is no such argument; did you mean body.a?"),
        ("either", {"lives": 9}, "lives: There is no such argument; did you mean body.lives?"),
        ("either", {"bark": "x"}, "bark: There is no such argument; did you mean body.bark?"),
        ("counts", {"a": 1}, "a: There is no such argument; did you mean body.a?"),
        ("free", {"payload": {"a": 1}}, "payload: There is no such argument; did you mean body?"),
        ("members", {"name": "x", "count": 3}, "count: There is no such argument; the arguments are: n, name"),
        ("pet", {"id": 3, "top": 5}, "top: There is no such argument; the arguments are: id, ids, limit, x-count"),
    ],
)
async def test_what_belongs_elsewhere_is_refused(name: str, args: dict[str, Any], text: str) -> None:
    """And nothing is sent."""
    message, requests = await send(name, args)

    assert (message.content, requests) == (text, [])


@pytest.mark.parametrize(
    ("name", "args", "ignored", "body"),
    [
        ("free", {"body": {"a": 1}, "b": 2}, ["b"], b'{"a":1}'),
        ("counts", {"body": {"a": 1}, "b": "x"}, ["b"], b'{"a":1}'),
        ("list", {"a": 1}, ["a"], b""),
        ("members", {"name": "x", "verbose": True}, ["verbose"], b'{"name":"x"}'),
        ("pet", {"id": 3, "verbose": True}, ["verbose"], b""),
    ],
)
async def test_what_belongs_nowhere_is_noted(name: str, args: dict[str, Any], ignored: list[str], body: bytes) -> None:
    """And not sent."""
    message, requests = await send(name, args)

    assert (message.content, message.response_metadata["ignored_args"]) == ("ok", ignored)
    assert [request.content for request in requests] == [body]


@pytest.mark.parametrize(
    ("name", "args", "target", "body"),
    [
        ("pet", {"id": 3.0}, "/pets/3", b""),
        ("pet", {"id": "3.0"}, "/pets/3", b""),
        ("pet", {"id": 1e3, "limit": 3.0, "ids": [1.0, 2]}, "/pets/1000?limit=3&ids=1&ids=2", b""),
        ("members", {"n": 3.0}, "/members", b'{"n":3}'),
        ("either", {"body": {"lives": 9.0}}, "/either", b'{"lives":9}'),
        ("list", {"body": [{"lives": 1e1}]}, "/list", b'[{"lives":10}]'),
        ("free", {"body": {"a": 3.0}}, "/free", b'{"a":3.0}'),
    ],
)
async def test_a_whole_number_is_sent_as_an_integer_where_one_is_wanted(
    name: str, args: dict[str, Any], target: str, body: bytes
) -> None:
    """In the path, in the query and in the body."""
    _, requests = await send(name, args)

    assert [(str(it.url).removeprefix(SERVICE), it.content) for it in requests] == [(target, body)]


async def test_a_whole_number_is_an_integer_in_a_header() -> None:
    """Of which a service reads the text."""
    _, requests = await send("pet", {"id": 3, "x-count": 2.0})

    assert requests[0].headers["x-count"] == "2"
