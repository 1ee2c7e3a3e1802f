"""Arguments in text that is not strict JSON are read in every form of calls."""

import copy
from typing import Any

import pytest

from tests.kit.clients import MakeClient
from tests.rest.test_dialect_readers import CALLS, echo
from tests.rest.test_said import double


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


LANGCHAIN_CALL = {"name": "double", "args": {"number": 4}, "id": "a", "type": "tool_call"}


LANGCHAIN = {"type": "ai", "content": "", "name": None, "id": None, "tool_calls": [LANGCHAIN_CALL]}


@pytest.mark.parametrize(
    "said", [LANGCHAIN, {**LANGCHAIN, "type": "AIMessageChunk"}, {"type": "ai", "data": LANGCHAIN}]
)
async def test_a_message_of_langchain_is_answered_with_its_own(make_client: MakeClient, said: dict[str, Any]) -> None:
    """As `model_dump` and `message_to_dict` write it; calls that LangChain could not read are mended or told of."""
    unread = {"type": "invalid_tool_call", "name": "double", "args": '{"number": 5,}', "id": "b", "error": "No JSON."}
    holder = said.get("data", said)
    holder["invalid_tool_calls"] = [unread]

    answers = (await (await make_client(double)).post("/tool_calls/batch", json=said)).json()

    assert [(it["type"], it["tool_call_id"], it["content"]) for it in answers] == [
        ("tool", "a", "8"),
        ("tool", "b", "10"),
    ]
