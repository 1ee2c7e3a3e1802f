"""Of a content that one has, or of which one wants some bytes, no more is sent."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.kit.clients import MakeClient

HEADER = "X-Consumer-Username"
TEXT = "".join(f"line {number}\n" for number in range(100))


@tool(max_content_bytes=300)
async def read_log() -> str:
    """Read a log."""
    return TEXT


async def _cut(client: httpx.AsyncClient, **headers: str) -> str:
    answer = await client.post("/tool_calls", json={"name": "read_log", "args": {}, "id": "1"}, headers=headers)
    return str(answer.json()["response_metadata"]["artifact_url"])


@pytest.mark.parametrize(
    ("wanted", "status", "said", "body"),
    [
        ({}, 200, None, TEXT),
        ({"Range": "bytes=0-5"}, 206, "bytes 0-5/790", "line 0"),
        ({"Range": "bytes=780-"}, 206, "bytes 780-789/790", TEXT[780:]),
        ({"Range": "bytes=-8"}, 206, "bytes 782-789/790", "line 99\n"),
        ({"Range": "bytes=0-1,4-5"}, 200, None, TEXT),
        ({"Range": "bytes=0-5", "If-Range": '"other"'}, 200, None, TEXT),
    ],
)
async def test_some_bytes_can_be_had(
    make_client: MakeClient, wanted: dict[str, str], status: int, said: str | None, body: str
) -> None:
    """In one piece."""
    client = await make_client(read_log)

    answer = await client.get(await _cut(client), headers=wanted)

    assert (answer.status_code, answer.headers.get("Content-Range"), answer.text) == (status, said, body)
    assert answer.headers["Content-Length"] == str(len(body))
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Cache-Control"] == "private, no-cache"


async def test_a_download_goes_on_where_it_stopped(make_client: MakeClient) -> None:
    """If it is still the same, as its ETag says."""
    client = await make_client(read_log)
    url = await _cut(client)
    first = await client.get(url, headers={"Range": "bytes=0-399"})

    rest = await client.get(url, headers={"Range": "bytes=400-", "If-Range": first.headers["ETag"]})

    assert (rest.status_code, first.text + rest.text) == (206, TEXT)


async def test_bytes_that_are_not_there_are_a_problem(make_client: MakeClient) -> None:
    """Which says how many there are."""
    client = await make_client(read_log)

    answer = await client.get(await _cut(client), headers={"Range": "bytes=790-"})

    assert (answer.status_code, answer.headers["Content-Range"]) == (416, "bytes */790")
    assert answer.json()["type"] == "urn:sidecall:problem:range-not-satisfiable"


async def test_what_one_has_is_not_sent_again(make_client: MakeClient) -> None:
    """A content never changes."""
    client = await make_client(read_log)
    url = await _cut(client)
    etag = (await client.get(url)).headers["ETag"]

    same = await client.get(url, headers={"If-None-Match": etag})
    other = await client.get(url, headers={"If-None-Match": '"other"'})

    assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", etag)
    assert (other.status_code, other.text) == (200, TEXT)
    assert not etag.startswith("W/")


async def test_the_head_is_that_of_the_whole(make_client: MakeClient) -> None:
    """Ranges are for GET."""
    client = await make_client(read_log)

    head = await client.head(await _cut(client), headers={"Range": "bytes=0-5"})

    assert (head.status_code, head.headers["Content-Length"], head.content) == (200, "790", b"")


@pytest.mark.parametrize(("headers", "status"), [({HEADER: "ann"}, 200), ({HEADER: "bob"}, 404), ({}, 404)])
async def test_a_content_is_its_callers_own(make_client: MakeClient, headers: dict[str, Any], status: int) -> None:
    """To others it does not exist, no matter what they have."""
    client = await make_client(read_log, caller_header=HEADER)
    url = await _cut(client, **{HEADER: "ann"})
    etag = (await client.get(url, headers={HEADER: "ann"})).headers["ETag"]

    answers = [await client.get(url, headers=headers), await client.get(url, headers={**headers, "Range": "bytes=0-5"})]
    known = await client.get(url, headers={**headers, "If-None-Match": etag})

    assert [answer.status_code == 404 for answer in [*answers, known]] == [status == 404] * 3
