"""Bodies are read as JSON, within limits, and only when they are declared as JSON."""

import gc
from collections.abc import AsyncIterator, Callable

import pytest

from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem
from tests.kit.tools import echo

CALL = b'{"name": "echo", "args": {"text": "hello"}, "id": "call_1"}'


def padded(size: int) -> bytes:
    """Make a right call of this many bytes."""
    return CALL + b" " * (size - len(CALL))


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    """Send a body in parts, without saying how long it is."""
    for part in parts:
        yield part


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "application/json; charset=utf-8",  # a parameter
        "APPLICATION/JSON",  # case does not count
        " application/json ;charset=utf-8",  # space does not count
        "application/problem+json",  # a JSON of a kind
        "application/vnd.acme.call+json; v=1",
    ],
)
async def test_a_body_declared_as_json_is_read(make_client: MakeClient, media_type: str) -> None:
    """Every media type that RFC 6839 calls JSON is taken."""
    client = await make_client(echo)

    response = await client.post("/tool_calls", content=CALL, headers={"Content-Type": media_type})

    assert response.status_code == 200
    assert response.json()["content"] == "hello"


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch", "/contents", "/mcp"])
@pytest.mark.parametrize("declared", [("application/json", "text/plain"), ("application/json", "application/json")])
async def test_a_body_that_is_declared_twice_is_refused(
    make_client: MakeClient, path: str, declared: tuple[str, str]
) -> None:
    """What stands in front of the server may have gone by the other one."""
    client = await make_client(echo)
    headers = [("Content-Type", kind) for kind in declared]

    response = await client.post(path, content=CALL, headers=headers)

    assert (response.status_code, response.json()["type"]) == (400, "urn:sidecall:problem:bad-request")
    assert response.json()["detail"] == "`Content-Type` came 2 times; send it once."


@pytest.mark.parametrize(
    ("headers", "given"),
    [
        ({}, "which is missing"),
        ({"Content-Type": ""}, "which is missing"),
        ({"Content-Type": "text/plain"}, "not text/plain"),  # what a browser's form may send across origins
        ({"Content-Type": "text/json"}, "not text/json"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "not application/x-www-form-urlencoded"),
        ({"Content-Type": "multipart/form-data; boundary=x"}, "not multipart/form-data"),
        ({"Content-Type": "text/calls+json"}, "not text/calls+json"),
        ({"Content-Type": "application/jsonl"}, "not application/jsonl"),
    ],
)
@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch"])
async def test_a_body_not_declared_as_json_is_refused(
    make_client: MakeClient, path: str, headers: dict[str, str], given: str
) -> None:
    """415 says what to send and what came instead."""
    client = await make_client(echo)

    response = await client.post(path, content=CALL, headers=headers)

    assert response.status_code == 415
    assert read_problem(response) == (
        "unsupported-media-type",
        f"The body must be sent with `Content-Type: application/json`, {given}.",
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(padded(2048), id="declared"),
        pytest.param(chunks(padded(1024), b" " * 1024), id="chunked"),
    ],
)
async def test_a_body_of_the_limit_is_read(make_client: MakeClient, content: bytes | AsyncIterator[bytes]) -> None:
    """The limit itself is allowed."""
    client = await make_client(echo, max_body_bytes=2048)

    response = await client.post("/tool_calls", content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == 200


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch"])
@pytest.mark.parametrize(
    "make_content",
    [
        pytest.param(lambda: padded(2049), id="declared"),
        pytest.param(lambda: chunks(padded(1024), b" " * 1024, b" "), id="chunked"),
    ],
)
async def test_a_body_over_the_limit_is_refused(
    make_client: MakeClient, path: str, make_content: Callable[[], bytes | AsyncIterator[bytes]]
) -> None:
    """413 names the limit, and the connection is not used again."""
    client = await make_client(echo, max_body_bytes=2048)

    response = await client.post(path, content=make_content(), headers={"Content-Type": "application/json"})

    assert response.status_code == 413
    assert response.headers["Connection"] == "close"
    assert read_problem(response) == (
        "body-too-large",
        "The body is larger than the 2048 bytes that this server takes.",
    )


@pytest.mark.parametrize(
    ("length", "status"),
    [
        ("many", 200),  # no number: the body itself is counted
        ("-1", 200),
        ("9" * 30, 413),
        ("9" * 5000, 413),  # more digits than Python turns into an int
    ],
)
async def test_a_strange_content_length_is_no_crash(make_client: MakeClient, length: str, status: int) -> None:
    """What a server in front lets through must not become a 500."""
    client = await make_client(echo)
    headers = {"Content-Type": "application/json", "Content-Length": length}

    response = await client.post("/tool_calls", content=CALL, headers=headers)

    assert response.status_code == status


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls?format=openai", "/tool_calls/batch"])
async def test_a_body_of_too_many_values_is_refused(make_client: MakeClient, path: str) -> None:
    """413 names the limit, before anything is parsed."""
    client = await make_client(echo, max_json_values=100)
    content = b"[" + b"0," * 120 + b"but this is no JSON"

    response = await client.post(path, content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == 413
    assert read_problem(response) == (
        "body-too-large",
        "The body holds more than the 100 values that this server takes.",
    )


async def test_malformed_json_is_located(make_client: MakeClient) -> None:
    """400 says where the parser stopped."""
    client = await make_client(echo)

    response = await client.post("/tool_calls", content=b'{"name": }', headers={"Content-Type": "application/json"})

    assert response.status_code == 400
    assert response.json()["type"] == "urn:sidecall:problem:malformed-json"
    assert response.json()["title"] == "The body is not JSON."
    assert response.json()["detail"] == "The body is not JSON: expected value at line 1 column 10."


@pytest.mark.parametrize(("body", "status"), [(padded(100_000), 200), (padded(100_000)[:-1] + b"!", 400)])
async def test_large_bodies_leave_the_collector_as_it_was(make_client: MakeClient, body: bytes, status: int) -> None:
    """It is held back while they are parsed, no matter what comes of that."""
    client = await make_client(echo)
    response = await client.post("/tool_calls", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == status
    assert gc.isenabled()
