"""What MCP servers answer with is passed on as it came, at each door."""

import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.features.mcp_client import saying
from tests.features.mcp_client.entries import write_servers
from tests.features.mcp_client.test_offered import call, own, wait_for_tool
from tests.features.mcp_server.messages import head, write
from tests.kit.clients import MakeClient

NONE_SENT = "saying__{} promises structured content, and its server sent none."
OTHER = 'saying__promised_other returned something else than its output schema says: "three" is not of type "integer".'
NOTES = {
    "promised_only_text": NONE_SENT.format("promised_only_text"),
    "promised_only_image": NONE_SENT.format("promised_only_image"),
    "promised_other": OTHER,
}
SILENT = "Error: the call failed, and its server does not say why."


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """A client of a server that offers the tools of another."""
    entry = {"command": sys.executable, "args": [str(Path(saying.__file__))]}
    made = await make_client(own, mcp_servers=write_servers(saying=entry))
    await wait_for_tool(made, "saying__free")
    return made


async def call_over_mcp(client: httpx.AsyncClient, name: str) -> dict[str, Any]:
    """Call a tool over MCP, and return its result without what names the server."""
    sent = write("tools/call", name=name, arguments={})
    result: dict[str, Any] = (await client.post("/mcp", json=sent, headers=head(sent))).json()["result"]
    return {key: value for key, value in result.items() if key not in ("_meta", "resultType")}


async def test_results_go_out_over_mcp_as_they_came(client: httpx.AsyncClient) -> None:
    """With values that nobody promised, errors with all that they have, annotations; beside that, only notes."""
    for name, said in saying.RESULTS.items():
        expected = {"isError": False, **said}
        if not said["content"]:
            # Tools that take no values read them as text.
            words = next((f'{{"{key}": {value}}}' for key, value in said.get("structuredContent", {}).items()), SILENT)
            expected["content"] = [saying.text(words)]
        if name in NOTES:
            expected["content"] = [*said["content"], saying.text(NOTES[name])]

        assert await call_over_mcp(client, f"saying__{name}") == expected, name


FAILED = "error"
DONE = "success"
IMAGE = {"type": "image", "base64": saying.PIXEL, "mime_type": "image/png"}


@pytest.mark.parametrize(
    ("name", "status", "content", "artifact"),
    [
        ("free", DONE, "one", {"structured_content": {"n": 1}}),
        ("free_beside_image", DONE, [IMAGE], {"structured_content": {"n": 1}}),
        ("promised_only_text", DONE, "three", None),
        ("promised_other", DONE, "three", {"structured_content": {"sum": "three"}}),
        ("failed", FAILED, "the disk is full", None),
        ("failed_twice", FAILED, [saying.text("no"), saying.text("and no")], None),
        ("failed_saying_nothing", FAILED, SILENT, None),
        ("failed_with_value", FAILED, "no", {"structured_content": {"code": 7}}),
        ("failed_with_value_alone", FAILED, '{"code": 7}', {"structured_content": {"code": 7}}),
        ("failed_with_image", FAILED, [saying.text("see"), IMAGE], None),
    ],
)
async def test_results_are_passed_on_over_rest(
    client: httpx.AsyncClient, name: str, status: str, content: Any, artifact: Any
) -> None:
    """The model reads blocks and texts, the program values."""
    message = await call(client, f"saying__{name}")

    assert (message["status"], message["content"], message["artifact"]) == (status, content, artifact)
    assert message["response_metadata"].get("result_note") == NOTES.get(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [("failed_twice", "no\nand no"), ("failed_with_image", "see"), ("failed_with_value", "no")],
)
async def test_an_error_says_its_words_without_images(client: httpx.AsyncClient, name: str, words: str) -> None:
    """Where programs read of it."""
    message = await call(client, f"saying__{name}")

    assert message["response_metadata"]["error"]["kind"] == "tool_error"
    assert message["response_metadata"]["error"]["message"] == words


async def test_a_note_is_read_by_models_of_every_provider(client: httpx.AsyncClient) -> None:
    """Behind what came."""
    body = {"id": "1", "type": "function", "function": {"name": "saying__promised_only_text", "arguments": "{}"}}

    answer = (await client.post("/tool_calls", json=body)).json()

    assert answer["content"] == f"three\n{NOTES['promised_only_text']}"


async def test_a_program_that_knows_http_alone_gets_values_and_texts(client: httpx.AsyncClient) -> None:
    """With the note, where the value is not there."""
    answers = [await client.post(f"/tools/saying__{name}/call", json={}) for name in ("promised", "promised_only_text")]

    assert [(answer.status_code, answer.json()) for answer in answers] == [
        (200, {"sum": 3}),
        (200, f"three\n{NOTES['promised_only_text']}"),
    ]


@pytest.mark.parametrize("name", ["free", "free_alone", "free_beside_image"])
async def test_a_value_that_nobody_promised_is_the_plain_result(client: httpx.AsyncClient, name: str) -> None:
    """The document says nothing of its form, and a link leads to the images beside it."""
    answer = await client.post(f"/tools/saying__{name}/call", json={})
    links = answer.headers["Link"]
    document = (await client.get(f"/openapi/tools.json?name=saying__{name}")).json()
    operation = document["paths"][f"/tools/saying__{name}/call"]["post"]

    assert answer.json() == {"n": 1}
    assert ('title="content"' in links) is (name == "free_beside_image")
    assert operation["responses"]["200"]["content"]["application/json"]["schema"] == {}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("of_no_kind", "content[1] is no content block"),
        ("of_no_text", "content[0] is no content block"),
        ("no_list", "content: Input should be a valid list"),
    ],
)
async def test_a_result_that_cannot_be_read_says_that_the_tool_has_run(
    client: httpx.AsyncClient, name: str, reason: str
) -> None:
    """With the place, and without what stands there; the next call is answered."""
    message = await call(client, f"saying__{name}")

    assert message["status"] == "error"
    assert message["content"] == f"Error: The tool has run, but its answer cannot be read: {reason}."
    assert (await call(client, "saying__free"))["content"] == "one"
