"""Arguments under the name that another dialect has for them are refused, with the right name, and nothing runs."""

from typing import Any

import pytest

from sidecall import tool
from sidecall.kernel.core.errors import NotAToolCall
from tests.features.mcp_server.messages import ask, ask_as_before
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem

ARGUMENTS = {"limit": 50}
NAMES = ("args", "arguments", "input", "parameters", "params", "kwargs", "tool_input")
# By dialect: where its arguments belong, and how a call is written with these members.
FORMS: dict[str, tuple[str, Any]] = {
    "langchain": ("args", lambda it: {"type": "tool_call", "id": "1", "name": "count", **it}),
    "openai": ("function.arguments", lambda it: {"type": "function", "function": {"name": "count", **it}}),
    "openai, beside": ("function.arguments", lambda it: {"function": {"name": "count"}, **it}),
    "openai-responses": ("arguments", lambda it: {"type": "function_call", "call_id": "1", "name": "count", **it}),
    "anthropic": ("input", lambda it: {"type": "tool_use", "id": "1", "name": "count", **it}),
    "anthropic, empty": ("input", lambda it: {"type": "tool_use", "name": "count", "input": {}, **it}),
    "gemini": ("functionCall.args", lambda it: {"functionCall": {"name": "count", **it}}),
    "gemini, of its library": (
        "functionCall.args",
        lambda it: {"function_call": {"name": "count", **it}, "text": None},
    ),
    "gemini, beside": ("functionCall.args", lambda it: {"functionCall": {"name": "count"}, **it}),
    "gemini, empty": ("functionCall.args", lambda it: {"functionCall": {"name": "count", "args": {}, **it}}),
}
PIECES = [{"jsonPath": "$.limit", "numberValue": 50}]
RAN: list[int] = []


@tool
async def count(limit: int = 5) -> str:
    """Count.

    Args:
        limit: How far.
    """
    RAN.append(limit)
    return f"up to {limit}"


@pytest.mark.parametrize("sent", [ARGUMENTS, '{"limit": 50}'], ids=["object", "text"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
async def test_only_the_dialects_own_name_is_heard(make_client: MakeClient, form: str, name: str, sent: Any) -> None:
    """Each pair of them is either the right one, or refused in words that name it, in a batch too."""
    place, write = FORMS[form]
    dialect, _, where = form.partition(", ")
    client = await make_client(count)
    call = write({name: sent})

    response = await client.post("/tool_calls?format=langchain", json=call)
    batch = await client.post("/tool_calls/batch?format=langchain", json=[call])

    if place.rpartition(".")[2] == name and where != "beside":
        assert (response.json()["content"], batch.json()[0]["content"]) == ("up to 50", "up to 50")
        return
    RAN.clear()
    outer, _, _ = place.rpartition(".")
    found = f"{outer}.{name}" if outer and where != "beside" else name
    said = f"The arguments of a call in the form of {dialect} stand in `{place}`, not in `{found}`."
    assert read_problem(response) == ("not-a-tool-call", said)
    assert read_problem(batch) == ("not-a-tool-call", f"Nothing was run: [0] {said}")
    assert RAN == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"arguments": ARGUMENTS}, 'not in `arguments`. With `arguments` its `type` is "function_call".'),
        ({"arguments": ARGUMENTS, "id": "1"}, 'not in `arguments`. With `arguments` its `type` is "function_call".'),
        ({"input": ARGUMENTS}, 'not in `input`. With `input` its `type` is "tool_use".'),
        ({"parameters": ARGUMENTS}, "not in `parameters`."),
        ({"kwargs": '{"limit": 50}'}, "not in `kwargs`."),
    ],
)
async def test_a_call_without_a_type_has_args(make_client: MakeClient, call: dict[str, Any], said: str) -> None:
    """Nothing else says what it is."""
    response = await (await make_client(count)).post("/tool_calls", json={"name": "count", **call})

    assert read_problem(response)[1] == f"The arguments of a call without a `type` stand in `args`, {said}"


@pytest.mark.parametrize(
    "call",
    [
        {"type": "tool_use", "id": "1", "name": "count", "input": {}, "partial_json": '{"limit": 50}'},  # LangChain's
        {"name": "count", "args": {}, "parameters": ARGUMENTS},
        {"name": "count", "args": None, "tool_input": ARGUMENTS},
        {"name": "count", "args": "", "arguments": ARGUMENTS, "type": "tool_call"},
        {"function": {"name": "count", "arguments": "{}", "parameters": ARGUMENTS}},
        {"type": "function_call", "id": "1", "name": "count", "args": ARGUMENTS},
        {"functionCall": {"name": "count", "partialArgs": PIECES}},
        {"function_call": {"name": "count", "partial_args": PIECES, "will_continue": False}},
    ],
)
async def test_what_is_empty_hides_no_arguments(make_client: MakeClient, call: dict[str, Any]) -> None:
    """The pieces of a stream are no arguments either."""
    response = await (await make_client(count)).post("/tool_calls", json=call)

    assert response.status_code == 422
    assert " stand in `" in response.json()["detail"]


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ({"functionCall": {"name": "count", "limit": 50}}, "functionCall.limit"),
        ({"functionCall": {"name": "count", "id": "1", "args": {}, "limit": 50}}, "functionCall.limit"),
        ({"functionCall": {"name": "count", "args": None, "limit": 0}}, "functionCall.limit"),
        ({"function_call": {"name": "count", "limit": 50}}, "functionCall.limit"),
        ({"functionCall": {"name": "count"}, "limit": 50}, "limit"),
        ({"functionCall": {"name": "count", "limt": 50}}, "functionCall.limt"),
        ({"functionCall": {"name": "gone", "limit": 50}}, "functionCall.limit"),
        ({"functionCall": {"name": "count", "q" * 20_000: 50}}, f"functionCall.{'q' * 50}…"),
        ({"type": "function", "function": {"name": "count", "arguments": "{}", "limit": 50}}, "function.limit"),
        ({"type": "function", "function": {"name": "count", "arguments": ""}, "limit": 50}, "limit"),
        ({"type": "tool_use", "name": "count", "input": {}, "limit": 50}, "limit"),
        ({"type": "function_call", "name": "count", "arguments": "{}", "limit": 50}, "limit"),
        ({"name": "count", "args": {}, "limit": 50}, "limit"),
    ],
)
async def test_arguments_beside_the_name_are_refused(make_client: MakeClient, call: dict[str, Any], found: str) -> None:
    """The call would run as if it had none, alone, in a batch and in what a model has said."""
    client = await make_client(count)
    RAN.clear()

    responses = [
        await client.post("/tool_calls", json=call),
        await client.post("/tool_calls", json=call, headers={"Accept": "text/event-stream"}),
        await client.post("/tool_calls/batch", json=[call]),
    ]
    if "functionCall" in call:
        responses.append(await client.post("/tool_calls/batch", json={"role": "model", "parts": [call]}))

    assert [response.status_code for response in responses] == [422] * len(responses)
    for response in responses:
        assert f"not in `{found}`." in response.json()["detail"]
    assert RAN == []


@pytest.mark.parametrize(
    ("call", "places"),
    [
        ({"functionCall": {"name": "count", "args": {"limit": 3}, "arguments": {"limit": 50}}}, "args arguments"),
        ({"functionCall": {"name": "count", "args": {"limit": 3}, "arguments": '{"limit": 50}'}}, "args arguments"),
        ({"functionCall": {"name": "count", "args": {"limit": 3}, "input": {"limit": 50}}}, "args input"),
        ({"function_call": {"name": "count", "args": {"limit": 3}, "arguments": "{"}}, "args arguments"),
        ({"function": {"name": "count", "arguments": '{"limit": 3}', "args": {"limit": 50}}}, "arguments args"),
    ],
)
async def test_arguments_that_came_twice_and_differ_are_refused(
    make_client: MakeClient, call: dict[str, Any], places: str
) -> None:
    """Nobody can say which are meant."""
    client = await make_client(count)
    RAN.clear()

    response = await client.post("/tool_calls", json=call)
    batch = await client.post("/tool_calls/batch", json=[call])

    right, other = places.split()
    holder = "function" if "function" in call else "functionCall"
    said = f"The arguments stand in `{holder}.{right}` and in `{holder}.{other}`, and differ; send one of them."
    assert read_problem(response) == ("not-a-tool-call", said)
    assert batch.status_code == 422
    assert RAN == []


@pytest.mark.parametrize(
    ("call", "content"),
    [
        ({"functionCall": {"name": "count", "args": {"limit": 3}, "arguments": '{"limit": 3}'}}, "up to 3"),
        ({"functionCall": {"name": "count", "args": {"limit": 3}, "arguments": {}}}, "up to 3"),
        ({"functionCall": {"name": "count", "args": {"limit": 3}, "limit": 50}}, "up to 3"),
        ({"functionCall": {"name": "count", "args": {}, "newMember": 1}, "thoughtSignature": "s"}, "up to 5"),
        ({"function": {"name": "count", "arguments": '{"limit": 3}', "parsed_arguments": {"limit": 3}}}, "up to 3"),
        ({"type": "tool_use", "name": "count", "input": {}, "newMember": 1}, "up to 5"),
        ({"name": "count", "args": {"limit": 3}, "parameters": {"limit": 50}}, "up to 3"),
        ({"functionCall": {"name": "count"}}, "up to 5"),
        ({"functionCall": {"name": "count", "args": None, "arguments": None, "partialArgs": None}}, "up to 5"),
        ({"functionCall": {"name": "count", "args": {"limit": 3}, "willContinue": False}}, "up to 3"),
        ({"function": {"name": "count", "arguments": "", "parameters": {}}}, "up to 5"),
    ],
)
async def test_what_is_there_is_not_doubted(make_client: MakeClient, call: dict[str, Any], content: str) -> None:
    """Keys that a dialect does not have are ignored."""
    response = await (await make_client(count)).post("/tool_calls?format=langchain", json=call)

    assert response.json()["content"] == content


@pytest.mark.parametrize(
    "call",
    [
        {"name": "count", "args": ARGUMENTS, "willContinue": True},
        {"name": "count", "partialArgs": PIECES, "willContinue": True},
        {"name": "count", "partial_args": PIECES, "will_continue": True},
        {"name": "count", "willContinue": True},
        {"name": "count", "partialArgs": [{"jsonPath": "$.limit", "stringValue": "5", "willContinue": True}]},
    ],
)
@pytest.mark.parametrize("key", ["functionCall", "function_call"])
async def test_a_call_that_goes_on_is_answered_as_one_that_was_cut_off(
    make_client: MakeClient, key: str, call: dict[str, Any]
) -> None:
    """Nothing runs, and the model reads why."""
    RAN.clear()
    response = await (await make_client(count)).post("/tool_calls", json={key: call})

    said = "The call was cut off before its end, so nothing has run. Send it again as a whole."
    assert response.json() == {"functionResponse": {"name": "count", "response": {"error": said}}}
    assert RAN == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "arguments"])
async def test_mcp_hears_its_own_name_only(make_client: MakeClient, name: str) -> None:
    """In the revisions before as well."""
    client = await make_client(count)

    answers = [await send(client, "tools/call", **{"name": "count", name: ARGUMENTS}) for send in (ask, ask_as_before)]

    said = f"The arguments of a call stand in `arguments`, not in `{name}`."
    assert [it.json()["error"] for it in answers] == [{"code": -32602, "message": said}] * 2


@pytest.mark.parametrize("arguments", [{}, {"arguments": {}}, {"arguments": None}])
async def test_nor_does_mcp_run_a_call_with_arguments_beside_its_name(
    make_client: MakeClient, arguments: dict[str, Any]
) -> None:
    """What is no parameter of the tool may be of a later revision."""
    client = await make_client(count)
    RAN.clear()

    loose = await ask(client, "tools/call", name="count", limit=50, **arguments)
    other = await ask(client, "tools/call", name="count", later={"x": 1}, **arguments)

    said = "The arguments of a call stand in `arguments`, not in `limit`."
    assert loose.json()["error"] == {"code": -32602, "message": said}
    assert other.json()["result"]["content"][0]["text"] == "up to 5"
    assert RAN == [5]


@pytest.mark.parametrize("args", [{"args": {}}, {"args": None}])
async def test_nor_does_a_call_in_this_process(args: dict[str, Any]) -> None:
    """It is refused as the others."""
    with pytest.raises(NotAToolCall, match="stand in `args`, not in `limit`"):
        await count.ainvoke({"type": "tool_call", "name": "count", "id": "1", "limit": 50, **args})


@pytest.mark.parametrize("name", [name for name in NAMES if name != "args"])
async def test_in_this_process_too(name: str) -> None:
    """With and without an empty right one."""
    for call in ({name: ARGUMENTS}, {name: ARGUMENTS, "args": {}}):
        with pytest.raises(NotAToolCall, match=f"stand in `args`, not in `{name}`"):
            await count.ainvoke({"type": "tool_call", "name": "count", "id": "1", **call})
