"""Members of forms are written as the Encoding Object of a document says."""

import json
from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import pytest

from sidecall import from_openapi
from tests.features.openapi_import.pets import serving

PARTS, FORM = "multipart/form-data", "application/x-www-form-urlencoded"
OBJECT = {"r": 1, "g": "a b"}
PLAIN = "text/plain"
JSON = "application/json"
PNG = "data:image/png;base64,aGk="
FILE = {"type": "string", "format": "binary"}
FIXED = {"X-A": {"schema": {"const": 1}}, "X-B": {"schema": {"enum": ["b"]}}, "X-C": {"schema": {"type": "string"}}}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Serve what says what came to it."""
    with serving() as address:
        yield address


def describe(media_type: str, schema: Any, encoding: Any, version: str) -> dict[str, Any]:
    """Describe a service with one operation that takes a form with one member."""
    form = {"schema": {"type": "object", "properties": {"v": schema}}, "encoding": {"v": encoding}}
    operation = {"operationId": "send", "requestBody": {"content": {media_type: form}}, "responses": {}}
    return {"openapi": version, "info": {"title": "Echo", "version": "1"}, "paths": {"/echo": {"post": operation}}}


async def send(
    url: str, media_type: str, schema: Any, encoding: Any, value: Any, version: str = "3.1.0"
) -> dict[str, str]:
    """Send a form, and return what came: the content type and the body."""
    document = describe(media_type, schema, encoding, version)
    (tool,) = from_openapi(document, base_url=url, private=True).get_tools()
    came = json.loads(await tool.ainvoke({"v": value}))
    return {"type": came["headers"]["content-type"], "body": came["body"]}


def list_parts(came: dict[str, str]) -> list[tuple[Any, str, str]]:
    """List the names, types and texts of the parts that came."""
    said = f"Content-Type: {came['type']}\r\n\r\n{came['body']}".encode()
    message = BytesParser(policy=HTTP).parsebytes(said)
    found = []
    for part in message.iter_parts():
        assert isinstance(part, EmailMessage)
        name = part.get_param("name", header="content-disposition")
        found.append((name, part.get_content_type(), part.get_payload(decode=True).decode()))  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize(
    ("schema", "encoding", "value", "parts"),
    [
        ({}, {}, "a", [("v", PLAIN, "a")]),
        ({}, {}, 5, [("v", PLAIN, "5")]),
        ({}, {}, True, [("v", PLAIN, "true")]),
        ({}, {}, [1, "b"], [("v", PLAIN, "1"), ("v", PLAIN, "b")]),
        ({}, {}, OBJECT, [("v", JSON, '{"r":1,"g":"a b"}')]),
        ({}, {}, [OBJECT, [1]], [("v", JSON, '{"r":1,"g":"a b"}'), ("v", JSON, "[1]")]),
        ({}, {"style": "form"}, "a&b=c", [("v", PLAIN, "a&b=c")]),
        ({}, {"style": "form"}, [1, "b"], [("v", PLAIN, "1"), ("v", PLAIN, "b")]),
        ({}, {"style": "form"}, OBJECT, [("r", PLAIN, "1"), ("g", PLAIN, "a b")]),
        ({}, {"style": "form", "explode": False}, [1, "b"], [("v", PLAIN, "1,b")]),
        ({}, {"style": "form", "explode": False}, OBJECT, [("v", PLAIN, "r,1,g,a b")]),
        ({}, {"explode": False}, [1, "b"], [("v", PLAIN, "1,b")]),
        ({}, {"explode": True}, OBJECT, [("r", PLAIN, "1"), ("g", PLAIN, "a b")]),
        ({}, {"allowReserved": True}, OBJECT, [("r", PLAIN, "1"), ("g", PLAIN, "a b")]),
        ({}, {"allowReserved": False}, "a/b c", [("v", PLAIN, "a/b c")]),
        ({}, {"style": "spaceDelimited"}, [1, "b"], [("v", PLAIN, "1 b")]),
        ({}, {"style": "pipeDelimited", "explode": False}, [1, "b"], [("v", PLAIN, "1|b")]),
        ({}, {"style": "deepObject"}, {"a": {"b": [1, 2]}}, [("v[a][b][0]", PLAIN, "1"), ("v[a][b][1]", PLAIN, "2")]),
        ({}, {"style": "deepObject", "explode": True}, OBJECT, [("v[r]", PLAIN, "1"), ("v[g]", PLAIN, "a b")]),
        ({}, {"style": "form", "contentType": "text/csv"}, OBJECT, [("r", PLAIN, "1"), ("g", PLAIN, "a b")]),
        ({}, {"contentType": "text/csv"}, "a,b", [("v", "text/csv", "a,b")]),
        ({}, {"contentType": "text/*, text/csv"}, "a,b", [("v", "text/csv", "a,b")]),
        ({}, {"contentType": "text/*"}, "a,b", [("v", PLAIN, "a,b")]),
        ({}, {"contentType": JSON}, "a", [("v", JSON, '"a"')]),
        ({}, {"contentType": "application/ld+json"}, OBJECT, [("v", "application/ld+json", '{"r":1,"g":"a b"}')]),
        ({}, {"contentType": JSON}, [1, OBJECT], [("v", JSON, "1"), ("v", JSON, '{"r":1,"g":"a b"}')]),
        ({"type": "string"}, {"contentType": "application/xml"}, "<a/>", [("v", "application/xml", "<a/>")]),
        (FILE, {}, PNG, [("v", "image/png", "hi")]),
        (FILE, {"contentType": "image/jpeg"}, "words", [("v", "image/jpeg", "words")]),
        (FILE, {"contentType": "image/png, image/jpeg"}, PNG, [("v", "image/png", "hi")]),
        (FILE, {"contentType": "application/octet-stream"}, "words", [("v", "application/octet-stream", "words")]),
        ({"type": "string"}, {"contentType": "image/png"}, PNG, [("v", "image/png", "hi")]),
        ({}, {"contentType": "image/*"}, PNG, [("v", "image/png", "hi")]),
        (
            {"type": "array", "items": {}},
            {"contentType": "application/pdf"},
            ["a", "b"],
            [("v", "application/pdf", "a"), ("v", "application/pdf", "b")],
        ),
        (
            {"type": "string", "contentEncoding": "base64"},
            {"contentType": "image/png"},
            "aGk=",
            [("v", "image/png", "aGk=")],
        ),
    ],
)
async def test_parts_are_written_as_their_encoding_says(
    url: str, schema: Any, encoding: Any, value: Any, parts: list[tuple[str, str, str]]
) -> None:
    """By style as in a query, without percents; else by content type, each item of a list in a part of its own."""
    assert list_parts(await send(url, PARTS, schema, encoding, value)) == parts


@pytest.mark.parametrize(
    ("encoding", "value", "parts"),
    [
        ({"style": "form", "explode": False}, [1, "b"], [("v", PLAIN, "1"), ("v", PLAIN, "b")]),
        ({"style": "deepObject"}, OBJECT, [("v", JSON, '{"r":1,"g":"a b"}')]),
        ({"style": "form", "contentType": "text/csv"}, "a,b", [("v", "text/csv", "a,b")]),
    ],
)
async def test_styles_of_parts_do_not_count_in_openapi_3_0(url: str, encoding: Any, value: Any, parts: Any) -> None:
    """Its specification has them for forms that are written like a query."""
    assert list_parts(await send(url, PARTS, {}, encoding, value, "3.0.3")) == parts


@pytest.mark.parametrize("version", ["3.0.3", "3.1.1"])
@pytest.mark.parametrize(
    ("encoding", "value", "body"),
    [
        ({}, [1, "b c"], "v=1&v=b%20c"),
        ({}, {"r": [1]}, "v=%7B%22r%22%3A%5B1%5D%7D"),
        ({"style": "form"}, OBJECT, "r=1&g=a%20b"),
        ({"explode": True}, OBJECT, "r=1&g=a%20b"),
        ({"explode": False}, [1, "b,c"], "v=1,b%2Cc"),
        ({"style": "spaceDelimited"}, [1, 2], "v=1%202"),
        ({"style": "pipeDelimited"}, [1, 2], "v=1|2"),
        ({"style": "deepObject"}, {"a": [1]}, "v%5Ba%5D%5B0%5D=1"),
        ({"allowReserved": True}, "a/b&c", "v=a/b%26c"),
        ({"contentType": JSON}, "a", "v=%22a%22"),
        ({"contentType": JSON}, [1, 2], "v=%5B1%2C2%5D"),
        ({"contentType": JSON, "explode": True}, [1, 2], "v=1&v=2"),
        ({"contentType": "text/csv"}, "a,b", "v=a%2Cb"),
    ],
)
async def test_forms_are_written_as_their_encoding_says(
    url: str, encoding: Any, value: Any, body: str, version: str
) -> None:
    """In every version: styles beat content types."""
    schema = {"type": "object"} if isinstance(value, dict) else {}

    assert (await send(url, FORM, schema, encoding, value, version))["body"] == body


@pytest.mark.parametrize("value", ["a", PNG])
async def test_parts_have_the_headers_that_can_be_known(url: str, value: str) -> None:
    """Those whose value the document says; a model is not asked for others."""
    schema = FILE if value == PNG else {}

    body = (await send(url, PARTS, schema, {"headers": FIXED}, value))["body"]

    assert "\r\nX-A: 1\r\nX-B: b\r\n" in body
    assert "X-C" not in body
