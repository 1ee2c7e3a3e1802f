"""Arguments as they come in each dialect, and what is said there of those that were dropped."""

import copy
from typing import Any

import pytest

from sidecall import ToolException, tool
from tests.kernel.rest.test_dialects import CALLS, echo
from tests.kit.clients import MakeClient

NOTE = "Not used, since the tool has no such argument: verbose."


@pytest.mark.parametrize("dialect", CALLS)
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"text": "hello"}', "hello"),
        ("{'text': 'hello',}", "hello"),
        (
            '{"text": "hel',
            "The arguments are not valid JSON: the text ends before the JSON does",
        ),
    ],
)
async def test_arguments_may_be_text_in_every_dialect(
    make_client: MakeClient, dialect: str, text: str, content: str
) -> None:
    """It is mended as it always is; what was cut off is for the model, not the program."""
    client = await make_client(echo)
    call = copy.deepcopy(CALLS[dialect])
    holder = call.get("function", call.get("functionCall", call))
    holder[next(key for key in ("args", "arguments", "input") if key in holder)] = text

    response = await client.post("/tool_calls?format=langchain", json=call)

    assert response.status_code == 200
    assert response.json()["content"].startswith(content)


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
