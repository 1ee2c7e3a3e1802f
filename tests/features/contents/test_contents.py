"""The whole of a content that was cut is there for programs."""

import json
from typing import Any

import httpx
import pytest

from sidecall import ToolException, tool
from sidecall.rest.answers import content_url
from tests.kit.clients import MakeClient


@tool
async def repeat(text: str, times: int) -> str:
    """Repeat a text."""
    return text * times


@tool
async def blocks(text: str, times: int) -> list[dict[str, str]]:
    """Repeat a text, as a block."""
    return [{"type": "text", "text": text * times}]


@tool(max_content_bytes=300)
async def briefly(text: str, times: int) -> str:
    """Repeat a text, briefly."""
    return text * times


@tool
async def fail(text: str, times: int) -> str:
    """Fail with a long text."""
    raise ToolException(text * times)


@tool(response_format="content_and_artifact")
async def report(text: str, times: int) -> tuple[str, str]:
    """Answer with a long text for the model, and a longer one for the program."""
    return text * times, text * times * 2


async def _call(client: httpx.AsyncClient, name: str = "repeat", text: str = "ü", times: int = 1000) -> Any:
    response = await client.post("/tool_calls", json={"name": name, "args": {"text": text, "times": times}, "id": "1"})
    return response.json()


async def test_the_whole_of_a_text_is_served(make_client: MakeClient) -> None:
    """As it was."""
    client = await make_client(repeat, max_content_bytes=300)

    message = await _call(client)
    whole = await client.get(message["response_metadata"]["artifact_url"])

    assert (len(message["content"].encode()) <= 300, message["response_metadata"]["truncated"]) == (True, True)
    assert (whole.status_code, whole.text) == (200, "ü" * 1000)


async def test_the_whole_of_blocks_is_served_as_json(make_client: MakeClient) -> None:
    """The program reads them as they were."""
    client = await make_client(blocks, max_content_bytes=300)

    message = await _call(client, "blocks")
    whole = await client.get(message["response_metadata"]["artifact_url"])

    assert json.loads(whole.text) == [{"type": "text", "text": "ü" * 1000}]
    assert whole.headers["Content-Type"] == "application/json"


async def test_no_browser_runs_what_a_tool_returned(make_client: MakeClient) -> None:
    """It is text, to be saved."""
    client = await make_client(repeat, max_content_bytes=300)

    message = await _call(client, text="<script>alert(1)</script>")
    headers = (await client.get(message["response_metadata"]["artifact_url"])).headers

    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Disposition"] == "attachment"
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize("key", ["nope", "0" * 32, "%00", "..%2f..%2fetc%2fpasswd", "a" * 5000])
async def test_what_is_not_there_is_a_problem(make_client: MakeClient, key: str) -> None:
    """404, without the reason."""
    client = await make_client()

    response = await client.get(f"/contents/{key}")

    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"


async def test_an_unknown_content_is_named_as_such(make_client: MakeClient) -> None:
    """Whether it never was or has expired."""
    client = await make_client()

    problem = (await client.get("/contents/nope")).json()

    assert (problem["type"], problem["detail"]) == (
        "urn:sidecall:problem:unknown-content",
        "There is no such content, or it has expired.",
    )


def test_a_content_has_an_address() -> None:
    """Where there is one."""
    assert (content_url("abc"), content_url(None)) == ("/contents/abc", None)


@pytest.mark.parametrize(
    ("name", "settings", "size"),
    [
        pytest.param("repeat", {}, 2000, id="within the server's own budget"),
        pytest.param("repeat", {"max_content_bytes": 1999}, 1999, id="over the server's"),
        pytest.param("briefly", {}, 300, id="over the tool's"),
        pytest.param("briefly", {"max_content_bytes": 1000}, 300, id="over both"),
    ],
)
async def test_the_budget_can_be_set(make_client: MakeClient, name: str, settings: dict[str, Any], size: int) -> None:
    """For a server, and for a tool, which knows better."""
    client = await make_client(repeat, briefly, **settings)

    content = (await _call(client, name))["content"]

    assert size - 2 <= len(content.encode()) <= size


async def test_the_time_that_contents_are_kept_can_be_set(make_client: MakeClient) -> None:
    """They are gone afterwards."""
    client = await make_client(repeat, max_content_bytes=300, artifact_ttl=1e-9)

    message = await _call(client)

    assert (await client.get(message["response_metadata"]["artifact_url"])).status_code == 404


@pytest.mark.parametrize(("most", "is_kept"), [(2000, True), (1999, False), (0, False)])
async def test_the_room_for_contents_can_be_set(make_client: MakeClient, most: int, is_kept: bool) -> None:
    """What does not fit is cut all the same."""
    client = await make_client(repeat, max_content_bytes=300, max_artifact_bytes=most)

    metadata = (await _call(client))["response_metadata"]

    assert (metadata["truncated"], metadata["artifact_url"] is not None) == (True, is_kept)


async def test_the_oldest_content_goes_first(make_client: MakeClient) -> None:
    """When there is room for two."""
    client = await make_client(repeat, max_content_bytes=300, max_artifact_bytes=5000)
    urls = [(await _call(client))["response_metadata"]["artifact_url"] for _ in range(3)]

    assert [(await client.get(url)).status_code for url in urls] == [404, 200, 200]


async def test_the_text_of_a_failure_is_cut_too(make_client: MakeClient) -> None:
    """A model reads it like any other."""
    client = await make_client(fail, max_content_bytes=300)

    message = await _call(client, "fail")
    whole = await client.get(message["response_metadata"].get("artifact_url") or "/nope")

    assert (message["status"], message["response_metadata"]["error"]["kind"]) == ("error", "tool_error")
    assert len(message["content"].encode()) <= 300
    assert whole.text == "ü" * 1000


async def test_what_is_for_the_program_is_not_cut(make_client: MakeClient) -> None:
    """No model reads a tool's artifact."""
    client = await make_client(report, max_content_bytes=300)

    message = await _call(client, "report")

    assert (message["response_metadata"]["truncated"], message["artifact"]) == (True, "ü" * 2000)


@pytest.mark.parametrize("form", ["openai", "openai-responses", "anthropic"])
async def test_every_provider_gets_what_was_cut(make_client: MakeClient, form: str) -> None:
    """With the note that says so."""
    client = await make_client(repeat, max_content_bytes=300)
    call = {"name": "repeat", "args": {"text": "ü", "times": 1000}, "id": "1"}

    answer = (await client.post(f"/tool_calls?format={form}", json=call)).json()
    content = answer.get("content", answer.get("output"))

    assert len(content.encode()) <= 300
    assert "bytes left out; the whole is at /contents/" in content


async def test_the_answers_of_a_batch_are_cut_each(make_client: MakeClient) -> None:
    """And each kept."""
    client = await make_client(repeat, max_content_bytes=300)
    calls = [{"name": "repeat", "args": {"text": text, "times": 1000}, "id": text} for text in "ab"]

    answers = (await client.post("/tool_calls/batch", json=calls)).json()
    whole = [(await client.get(answer["response_metadata"]["artifact_url"])).text for answer in answers]

    assert whole == ["a" * 1000, "b" * 1000]
