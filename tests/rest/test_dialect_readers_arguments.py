"""Arguments as they come in each dialect, and what is said there of those that were dropped."""

from typing import Any

import pytest

from sidecall import ToolException, tool
from tests.kit.clients import MakeClient
from tests.rest.test_dialect_readers import echo

NOTE = "Not used, since the tool has no such argument: verbose."


@tool(unknown_args="tell")
async def told(text: str, *, blocks: bool = False) -> Any:
    """Repeat a text.

    Args:
        text: What to repeat.
        blocks: Whether as a block.
    """
    if text == "fail":
        raise ToolException("The text is refused.")
    return [{"type": "text", "text": text}] if blocks else text


@pytest.mark.parametrize(
    ("dialect", "args", "said"),
    [
        ("openai", {"text": "a", "verbose": 1}, {"content": f"a\n{NOTE}"}),
        ("openai-responses", {"text": "a", "verbose": 1}, {"output": f"a\n{NOTE}"}),
        ("anthropic", {"text": "fail", "verbose": 1}, {"content": f"The text is refused.\n{NOTE}", "is_error": True}),
        ("openai", {"text": "a"}, {"content": "a"}),
        ("langchain", {"text": "a", "verbose": 1}, {"content": "a"}),
        (
            "anthropic",
            {"text": "a", "blocks": True, "verbose": 1},
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": NOTE}]},
        ),
    ],
)
async def test_the_model_is_told_of_dropped_arguments_where_the_author_wants_it(
    make_client: MakeClient, dialect: str, args: dict[str, Any], said: dict[str, Any]
) -> None:
    """In the content, unless the answer has a place for their names."""
    client = await make_client(told, echo)
    call = {"name": "told", "args": args, "id": "call_1"}

    answer = (await client.post("/tool_calls", params={"format": dialect}, json=call)).json()
    without = await client.post(
        "/tool_calls?format=openai", json={**call, "name": "echo", "args": {**args, "text": "a"}}
    )

    assert {key: answer[key] for key in said} == said
    assert without.json()["content"] == "a"
