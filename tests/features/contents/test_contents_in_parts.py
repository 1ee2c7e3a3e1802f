"""A model can look into what was cut, part by part."""

import json
from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.kit.clients import MakeClient

LOG = "".join(f"line {number}\n" for number in range(1, 1001))
ROWS = {"items": [{"name": f"Ä{number}", "price": number} for number in range(200)], "note": "one\ntwo\nthree"}


@tool(max_content_bytes=300)
async def show(text: str) -> str:
    """Show a text."""
    return text


@tool(max_content_bytes=300)
async def blocks(text: str) -> list[dict[str, str]]:
    """Show a text as a block."""
    return [{"type": "text", "text": text}]


async def _cut(client: httpx.AsyncClient, text: str, name: str = "show") -> str:
    answer = await client.post("/tool_calls", json={"name": name, "args": {"text": text}, "id": "1"})
    return str(answer.json()["response_metadata"]["artifact_url"])


async def _read(make_client: MakeClient, text: str, name: str = "show", **wanted: Any) -> httpx.Response:
    client = await make_client(show, blocks)
    return await client.get(await _cut(client, text, name), params=wanted)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"lines": "10-12"}, "line 10\nline 11\nline 12\n"),
        ({"lines": "7"}, "line 7\n"),
        ({"lines": "999-"}, "line 999\nline 1000\n"),
        ({"lines": "-2"}, "line 999\nline 1000\n"),
        ({"lines": "2000-"}, ""),
        ({"grep": "e 99"}, "".join(f"{it}:line {it}\n" for it in (99, *range(990, 1000)))),
        ({"grep": "E 42", "ignore_case": "true", "lines": "1-100"}, "42:line 42\n"),
        ({"grep": "LINE"}, ""),
        ({"grep": "line .*"}, ""),
    ],
)
async def test_lines_can_be_had(make_client: MakeClient, wanted: dict[str, str], found: str) -> None:
    """By their numbers, and by what they hold; a text to look for is no pattern."""
    answer = await _read(make_client, LOG, **wanted)

    assert (answer.status_code, answer.text) == (200, found)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["Content-Disposition"] == "attachment"


@pytest.mark.parametrize("wanted", [{"lines": "5-"}, {"grep": "1", "lines": "5-"}])
async def test_the_rest_is_where_the_link_leads(make_client: MakeClient, wanted: dict[str, str]) -> None:
    """Until there is none; every line comes once."""
    client = await make_client(show)
    text = "".join(f"{number} {'1' * 90}\n" for number in range(1, 2001))
    url = await _cut(client, text)
    answer = await client.get(url, params=wanted)
    seen = [answer.text]
    while "next" in answer.links:
        answer = await client.get(answer.links["next"]["url"])
        seen.append(answer.text)

    lines = [line for part in seen for line in part.splitlines() if not line.startswith("[…")]
    assert [line.rpartition(":")[2] for line in lines] == text.splitlines()[4:]
    assert len(seen) > 2
    assert max(len(part) for part in seen) < 70_000


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"path": "$.items[1].name"}, ["Ä1"]),
        ({"path": "$.items[?@.price > 197].price"}, [198, 199]),
        ({"path": "$..price"}, list(range(200))),
        ({"path": "$.nothing"}, []),
    ],
)
async def test_values_can_be_had(make_client: MakeClient, wanted: dict[str, str], found: list[Any]) -> None:
    """As an array, however many they are."""
    answer = await _read(make_client, json.dumps(ROWS), **wanted)

    assert (answer.status_code, answer.json()) == (200, found)
    assert answer.headers["Content-Type"] == "application/json"


async def test_lines_of_values_can_be_had(make_client: MakeClient) -> None:
    """Of texts as they are, such as that of a block."""
    answer = await _read(make_client, LOG, "blocks", path="$[0].text", lines="10-11")

    assert answer.text == "line 10\nline 11\n"


@pytest.mark.parametrize(
    ("text", "wanted", "said"),
    [
        (LOG, {"lines": "20-10"}, "`lines`: line 10 is before line 20."),
        (LOG, {"lines": "0-3"}, "lines: Write it as `10`, `10-20`, `10-`, or `-20` for the last twenty lines"),
        (LOG, {"lines": "-"}, "lines: Write it as `10`, `10-20`, `10-`, or `-20` for the last twenty lines"),
        (LOG, {"grep": ""}, "grep: String should have at least 1 character"),
        (LOG, {"grep": "a" * 201}, "grep: String should have at most 200 characters"),
        (LOG, {"grep": "line 1\nline 2"}, "grep: Leave out the line feed: no line holds one"),
        (LOG, {"grep": "line 1\n"}, "grep: Leave out the line feed: no line holds one"),
        (LOG, {"ignore_case": "true"}, "`ignore_case` goes with `grep`."),
        (LOG, {"path": "$"}, "`path`: the content is not JSON"),
        (json.dumps(ROWS), {"path": "items"}, "`path`: a path begins with $, as in $.items[0].name."),
        (json.dumps(ROWS), {"path": "$.items["}, "`path`: unexpected end of query."),
        (json.dumps(ROWS), {"path": "$[?search(@, '(a*)*b')]"}, "`path`: function 'search' is not defined."),
        (json.dumps(ROWS), {"path": "$.items[?$..*]"}, "`path`: in a filter, a path leads to one place"),
        (json.dumps(ROWS), {"path": "$[?@==" + "9" * 900 + "]"}, "`path`: it is nested too deeply, or has a number"),
        (json.dumps(ROWS), {"path": "$[1e999]"}, "`path`: it is nested too deeply, or has a number"),
        (json.dumps([0] * 1001), {"path": "$.*"}, "`path`: it finds more than 1000 values"),
        (json.dumps(["x" * 40_000] * 2), {"path": "$"}, "`path`: the 1 values that it finds take more than 65536"),
        (json.dumps([0] * 250_000), {"path": "$[0]"}, "`path`: the content has more than 250,000 values; read it with"),
        (json.dumps([0] * 250_000), {"path": "0"}, "`path`: a path begins with $"),
    ],
)
async def test_what_cannot_be_had_is_a_problem(
    make_client: MakeClient, text: str, wanted: dict[str, str], said: str
) -> None:
    """Which says what can."""
    answer = await _read(make_client, text + " " * 300, **wanted)

    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:sidecall:problem:invalid-parameter"
    assert answer.json()["detail"].startswith(said)


async def test_another_callers_content_has_no_parts(make_client: MakeClient) -> None:
    """To others it does not exist."""
    client = await make_client(show, caller_header="X-Name")
    url = await _cut(client, LOG)

    assert (await client.get(url, params={"lines": "1"}, headers={"X-Name": "bob"})).status_code == 404


async def test_a_part_is_waited_for_as_long_as_its_client_says(make_client: MakeClient) -> None:
    """However long it takes to find it."""
    client = await make_client()
    url = (await client.post("/contents", content="[" * 150 + "]" * 150)).json()["url"]

    answer = await client.get(url, params={"path": "$" + "..*" * 6 + ".x", "timeout": "0.05"})

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json()["type"] == "urn:sidecall:problem:overloaded"
    assert answer.json()["detail"] == "The request for a part of a content waited 0.05 seconds in vain."
