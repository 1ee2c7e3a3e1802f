"""Content blocks are said in each provider's form, no matter which library's form the tool wrote them in."""

import json
from typing import Any

import langchain_core.messages
import pytest
from anthropic.types import ToolResultBlockParam
from openai.types.chat import ChatCompletionToolMessageParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

from sidecall import ToolMessage, tool
from sidecall.rest.dialect_writers import write_anthropic, write_gemini, write_openai, write_responses
from tests.kit.clients import MakeClient

DATA = "iVBORw0KGgo="
AS_DATA = f"data:image/png;base64,{DATA}"
AT = "https://x.test/a.png"
PDF = "JVBERi0xLjc="

# Forms of one image, and of one file, that tools write.
INLINE_IMAGES = {
    "LangChain": {"type": "image", "base64": DATA, "mime_type": "image/png"},
    "LangChain 0.3": {"type": "image", "source_type": "base64", "data": DATA, "mime_type": "image/png"},
    "Chat Completions": {"type": "image_url", "image_url": {"url": AS_DATA}},
    "a short image_url": {"type": "image_url", "image_url": AS_DATA},
    "Responses": {"type": "input_image", "image_url": AS_DATA},
    "the Agents SDK": {"type": "image", "image_url": AS_DATA},
    "Anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
}
LINKED_IMAGES = {
    "LangChain": {"type": "image", "url": AT},
    "LangChain 0.3": {"type": "image", "source_type": "url", "url": AT},
    "Chat Completions": {"type": "image_url", "image_url": {"url": AT}},
    "Responses": {"type": "input_image", "image_url": AT},
    "Anthropic": {"type": "image", "source": {"type": "url", "url": AT}},
}
INLINE_FILES = {
    "LangChain": {"type": "file", "base64": PDF, "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
    "LangChain 0.3": {
        "type": "file",
        "source_type": "base64",
        "data": PDF,
        "mime_type": "application/pdf",
        "filename": "a.pdf",
    },
    "Chat Completions": {
        "type": "file",
        "file": {"file_data": f"data:application/pdf;base64,{PDF}", "filename": "a.pdf"},
    },
    "Responses": {"type": "input_file", "file_data": f"data:application/pdf;base64,{PDF}", "filename": "a.pdf"},
    "Anthropic": {
        "type": "document",
        "title": "a.pdf",
        "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
    },
}
KEPT = [{"type": "image", "file_id": "file_1", "detail": "low"}]
TEXT_FILE = [{"type": "file", "base64": "aGVsbG8=", "mime_type": "text/plain"}]

PARAMS: dict[str, TypeAdapter[Any]] = {
    "openai": TypeAdapter(ChatCompletionToolMessageParam),
    "openai-responses": TypeAdapter(FunctionCallOutput),
    "anthropic": TypeAdapter(ToolResultBlockParam),
}
WRITERS: dict[str, Any] = {
    "openai": write_openai,
    "openai-responses": write_responses,
    "anthropic": write_anthropic,
    "gemini": write_gemini,
}


def _write(dialect: str, content: list[Any]) -> Any:
    """Return what the answer says, once the provider's own type for it has taken it."""
    answer = WRITERS[dialect](ToolMessage(content=content, tool_call_id="call_1", name="work"))
    if dialect == "gemini":
        inner = answer["functionResponse"]
        return [inner["response"]["output"], *inner.get("parts", [])]
    assert json.loads(PARAMS[dialect].dump_json(PARAMS[dialect].validate_python(answer))) == answer
    return answer["output" if dialect == "openai-responses" else "content"]


@pytest.mark.parametrize("form", INLINE_IMAGES)
@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("openai", [{"type": "text", "text": "[image, image/png, 8 bytes, not shown]"}]),
        ("openai-responses", [{"type": "input_image", "image_url": AS_DATA}]),
        ("anthropic", [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}]),
        ("gemini", ["", {"inlineData": {"mimeType": "image/png", "data": DATA}}]),
    ],
)
def test_an_image_is_one_in_every_dialect(form: str, dialect: str, said: Any) -> None:
    """Chat Completions alone takes none from tools."""
    assert _write(dialect, [INLINE_IMAGES[form]]) == said


@pytest.mark.parametrize("form", LINKED_IMAGES)
@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("openai", [{"type": "text", "text": f"[image, {AT}]"}]),
        ("openai-responses", [{"type": "input_image", "image_url": AT}]),
        ("anthropic", [{"type": "image", "source": {"type": "url", "url": AT}}]),
        ("gemini", ["", {"fileData": {"mimeType": "image/png", "fileUri": AT}}]),
    ],
)
def test_the_address_of_an_image_is_passed_on(form: str, dialect: str, said: Any) -> None:
    """Who reads it fetches it, not the server."""
    assert _write(dialect, [LINKED_IMAGES[form]]) == said


@pytest.mark.parametrize("form", INLINE_FILES)
@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("openai", [{"type": "text", "text": "[file a.pdf, application/pdf, 8 bytes, not shown]"}]),
        (
            "openai-responses",
            [{"type": "input_file", "file_data": f"data:application/pdf;base64,{PDF}", "filename": "a.pdf"}],
        ),
        (
            "anthropic",
            [
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                    "title": "a.pdf",
                }
            ],
        ),
        ("gemini", ["", {"inlineData": {"mimeType": "application/pdf", "data": PDF, "displayName": "a.pdf"}}]),
    ],
)
def test_a_file_is_one_in_every_dialect(form: str, dialect: str, said: Any) -> None:
    """With its name."""
    assert _write(dialect, [INLINE_FILES[form]]) == said


@pytest.mark.parametrize(
    ("dialect", "content", "said"),
    [
        (
            "openai",
            ["a", {"type": "text", "text": "b"}],
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        ),
        ("openai", [{"type": "text", "text": "a", "id": "lc_1"}], [{"type": "text", "text": "a"}]),
        ("openai", [{"type": "json", "json": {"a": 1}}], [{"type": "text", "text": '{"a": 1}'}]),
        ("openai", [], "[]"),
        ("openai-responses", ["a"], [{"type": "input_text", "text": "a"}]),
        ("openai-responses", KEPT, [{"type": "input_image", "file_id": "file_1", "detail": "low"}]),
        (
            "openai-responses",
            TEXT_FILE,
            [{"type": "input_file", "file_data": "data:text/plain;base64,aGVsbG8=", "filename": "file.plain"}],
        ),
        (
            "openai-responses",
            [{"type": "odd", "id": "ü"}],
            [{"type": "input_text", "text": '{"type": "odd", "id": "ü"}'}],
        ),
        (
            "openai-responses",
            [{"type": "video", "url": "https://x.test/a.mp4"}],
            [{"type": "input_text", "text": "[video, https://x.test/a.mp4]"}],
        ),
        ("anthropic", ["a", {"type": "text", "text": ""}], [{"type": "text", "text": "a"}]),  # It refuses empty ones.
        ("anthropic", KEPT, [{"type": "image", "source": {"type": "file", "file_id": "file_1"}}]),
        (
            "anthropic",
            TEXT_FILE,
            [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}}],
        ),
        (
            "anthropic",
            [{"type": "image", "base64": DATA, "mime_type": "image/tiff"}],
            [{"type": "text", "text": "[image, image/tiff, 8 bytes, not shown]"}],
        ),
        (
            "anthropic",
            [{"type": "file", "base64": "UEsDBA==", "mime_type": "application/zip"}],
            [{"type": "text", "text": "[file, application/zip, 4 bytes, not shown]"}],
        ),
        (
            "anthropic",
            [{"type": "search_result", "source": "https://x.test", "title": "t", "content": []}],
            [{"type": "search_result", "source": "https://x.test", "title": "t", "content": []}],
        ),
        ("gemini", ["a", {"type": "text", "text": "b"}], ["a\nb"]),
        ("gemini", KEPT, ["[image, id file_1]"]),
        (
            "gemini",
            [{"type": "file", "url": "https://x.test/a.pdf?v=1.png"}],
            ["", {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x.test/a.pdf?v=1.png"}}],
        ),
        (
            "gemini",
            [{"type": "image", "url": "https://x.test/a.jpg"}, {"type": "image", "url": "https://[x.test"}],
            [
                "",
                {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://x.test/a.jpg"}},
                {"fileData": {"mimeType": "image/png", "fileUri": "https://[x.test"}},
            ],
        ),
        (
            "anthropic",
            [{"type": "file", "base64": PDF, "filename": "a.pdf"}],
            [
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
                    "title": "a.pdf",
                }
            ],
        ),
    ],
)
def test_what_a_provider_has_no_form_for_is_said_in_words(dialect: str, content: list[Any], said: Any) -> None:
    """So that nothing is lost without a word, and no model reads megabytes of base64."""
    assert _write(dialect, content) == said


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image"},
        {"type": "image", "source": "text"},
        {"type": "image_url", "image_url": None},
        {"type": "image", "url": 5},
        {"type": "text", "text": 5},
    ],
)
@pytest.mark.parametrize("dialect", list(WRITERS))
def test_a_block_that_is_broken_is_said_as_it_is(dialect: str, block: dict[str, Any]) -> None:
    """Anyone who reads it sees what is wrong with it."""
    assert json.dumps(block) in json.dumps(_write(dialect, [block])).replace('\\"', '"')


async def test_an_image_that_chat_completions_does_not_take_is_kept_for_the_program(make_client: MakeClient) -> None:
    """The note in its place says where."""

    @tool
    async def draw() -> list[Any]:
        """Draw."""
        return ["Drawn.", INLINE_IMAGES["LangChain"]]

    client = await make_client(draw)
    call = {"id": "call_1", "type": "function", "function": {"name": "draw", "arguments": "{}"}}

    alone = (await client.post("/tool_calls", json=call)).json()["content"]
    beside = (await client.post("/tool_calls/batch", json=[call])).json()[0]["content"]

    for said in (alone, beside):
        note = said[1]["text"]
        assert note.startswith("[image, image/png, 8 bytes, to be found at /contents/")
        kept = (await client.get(note.rpartition(" ")[2].rstrip("]"))).json()
        assert kept == ["Drawn.", INLINE_IMAGES["LangChain"]]


async def test_langchain_reads_images_and_files_as_such(make_client: MakeClient) -> None:
    """So that each of its models gets them in its own form."""
    blocks = [{"type": "text", "text": "Drawn."}, INLINE_IMAGES["LangChain"], INLINE_FILES["LangChain"]]

    @tool
    async def draw() -> list[Any]:
        """Draw."""
        return blocks

    client = await make_client(draw)
    message = langchain_core.messages.ToolMessage(
        **(await client.post("/tool_calls", json={"name": "draw", "args": {}})).json()
    )

    assert message.content == blocks
    assert [block["type"] for block in message.content_blocks] == ["text", "image", "file"]
