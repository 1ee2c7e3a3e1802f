"""A tool that calls another one: what the inner call is given, what comes of its failure, and who is asked about it."""

from typing import Annotated, Any

import pytest
from pydantic import ValidationError

from sidecall import (
    ApprovalRequired,
    HumanMessage,
    InjectedState,
    InjectedToolArg,
    ToolException,
    ToolRuntime,
    tool,
)
from sidecall.kernel.core.errors import MissingContext
from tests.kit.clients import MakeClient


@tool
def halve(n: int) -> float:
    """Halve a number."""
    if n == 0:
        raise ZeroDivisionError("nothing to halve")
    if n < 0:
        raise ToolException("no debts")
    return n / 2


@tool
def careful(n: int) -> str:
    """Halve, no matter what comes."""
    try:
        return str(halve.invoke({"n": n}))
    except ZeroDivisionError as error:
        return f"caught {error}"


@tool
async def careful_too(n: int) -> str:
    """Halve, no matter what comes."""
    try:
        return str(await halve.ainvoke({"n": n}))
    except ZeroDivisionError as error:
        return f"caught {error}"


@tool
def careless(n: int) -> str:
    """Halve by a name that there is not."""
    return str(halve.invoke({"number": n}))


@tool
def forgiving(n: int) -> str:
    """Halve by a name that there is not, and say so."""
    try:
        return str(halve.invoke({"number": n}))
    except ValueError as error:
        return f"caught {error}"


@tool(requires_approval=True)
def wipe(n: int) -> str:
    """Wipe a disk."""
    return f"wiped {n}"


@tool
def ask_first(n: int) -> str:
    """Wipe if somebody says so."""
    if n < 0:
        raise ApprovalRequired(f"Wipe {n}?")
    return "wiped less"


@tool
def clean(n: int) -> str:
    """Clean up."""
    return f"{wipe.invoke({'n': n})}, {ask_first.invoke({'n': n})}"


@tool
async def clean_too(n: int) -> str:
    """Clean up."""
    message = await wipe.ainvoke({"type": "tool_call", "name": "wipe", "args": {"n": n}, "id": "inner"})
    return str(message.content)


@tool
def careful_of_words(n: str) -> str:
    """Halve a number that is written as a word, perhaps."""
    try:
        return str(halve.invoke({"n": n}))
    except ValueError as error:
        return f"caught {error}"


TOOLS = (halve, careful, careful_too, careless, careful_of_words, wipe, ask_first, clean, clean_too)


async def call(client: Any, name: str, n: int) -> Any:
    """Call a tool over HTTP."""
    return await client.post("/tool_calls", json={"name": name, "args": {"n": n}, "id": "call_1"})


@pytest.mark.parametrize("name", ["careful", "careful_too"])
@pytest.mark.parametrize(
    ("n", "content", "kind"),
    [(4, "2.0", None), (0, "caught nothing to halve", None), (-1, "no debts", "tool_error")],
)
async def test_a_failure_of_the_inner_call_is_the_functions_own(
    make_client: MakeClient, name: str, n: int, content: str, kind: str | None
) -> None:
    """The outer tool may catch it; what the inner one says to the model passes through."""
    answer = (await call(await make_client(*TOOLS), name, n)).json()

    assert answer["content"] == content
    assert answer["response_metadata"].get("error", {}).get("kind") == kind


async def test_arguments_that_the_outer_tool_got_wrong_are_its_crash(make_client: MakeClient) -> None:
    """The model could not mend them."""
    answer = (await call(await make_client(*TOOLS), "careless", 1)).json()

    assert answer["response_metadata"]["error"]["kind"] == "execution_error"
    with pytest.raises(ValidationError):  # As a program is told that calls it.
        careless.invoke({"n": 1})


async def test_arguments_that_do_not_fit_are_a_value_error(make_client: MakeClient) -> None:
    """As in LangChain: pydantic's ValidationError, with our words as a note."""
    client = await make_client(*TOOLS)

    body = {"name": "careful_of_words", "args": {"n": "four"}, "id": "call_1"}
    answer = (await client.post("/tool_calls", json=body)).json()

    assert answer["content"].startswith("caught 1 validation error for halve\nn\n  Input should be a valid integer")
    with pytest.raises(ValueError, match="1 validation error for halve") as caught:
        halve.invoke({"n": "four"})
    assert caught.value.__notes__ == ["n: Input should be an integer"]


@pytest.mark.parametrize(("name", "content"), [("clean", "wiped 1, wiped less"), ("clean_too", "wiped 1")])
async def test_an_inner_call_that_waits_for_a_person_makes_the_outer_one_wait(
    make_client: MakeClient, name: str, content: str
) -> None:
    """Who decides is told of the inner call; approved, both run, and nobody is asked again."""
    client = await make_client(*TOOLS)

    waits = await call(client, name, 1)
    shown = waits.json()
    decided = await client.post(f"/approvals/{shown['id']}", json={"decision": "approve"})
    again = await call(client, name, 1)

    assert waits.status_code == 202
    assert (shown["tool_call"]["name"], shown["description"]) == (name, "It wants to call wipe.")
    assert shown["payload"] == {"name": "wipe", "args": {"n": 1}}
    assert decided.json()["message"]["content"] == content
    assert again.json()["content"] == content


async def test_arguments_that_the_outer_tool_got_wrong_are_a_value_error(make_client: MakeClient) -> None:
    """As pydantic's error is, which LangChain raises there."""
    client = await make_client(halve, forgiving)

    answer = (await client.post("/tool_calls", json={"name": "forgiving", "args": {"n": 8}})).json()

    assert answer["status"] == "success"
    assert answer["content"].startswith("caught 1 validation error for halve\nn\n  Field required")
    assert forgiving.invoke({"n": 8}) == answer["content"]


async def test_a_rejected_inner_call_rejects_the_outer_one(make_client: MakeClient) -> None:
    """The model reads why."""
    client = await make_client(*TOOLS)

    shown = (await call(client, "clean", 1)).json()
    decided = await client.post(f"/approvals/{shown['id']}", json={"decision": "reject", "reason": "not today"})

    assert "not today" in decided.json()["message"]["content"]
    assert decided.json()["message"]["status"] == "error"


def test_a_program_that_makes_the_call_itself_is_told_that_it_waits() -> None:
    """Unless it says that it is approved, which holds for the calls within."""
    with pytest.raises(ApprovalRequired) as waits:
        clean.invoke({"n": 1})

    assert waits.value.approval.tool_call.name == "clean"
    assert clean.invoke({"n": 1}, approved=True) == "wiped 1, wiped less"


@tool
def read_state(q: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Read the state."""
    last = state["messages"][-1]
    return f"{q} {last.content} {type(last).__name__} {last['content']} {last.get('name')}"


@tool
def read_runtime(q: str, runtime: ToolRuntime) -> str:
    """Read the runtime."""
    return f"{q} {runtime.state['user']}"


@tool
def read_who(q: str, who: Annotated[str, InjectedToolArg] = "guest") -> str:
    """Read who asks."""
    return f"{q} {who}"


@tool
def pass_on(q: str, runtime: ToolRuntime) -> str:
    """Call another with what this one was given."""
    return str(read_runtime.invoke({"q": q, "runtime": runtime}))


def test_hidden_arguments_are_taken_from_the_program() -> None:
    """As unit tests and tools that call tools give them."""
    said = [HumanMessage(content="hi")]

    assert read_who.invoke({"q": "a", "who": "Ada"}) == "a Ada"
    assert read_state.invoke({"q": "a", "state": {"messages": said}}) == "a hi HumanMessage hi None"
    of_call = {"type": "tool_call", "name": "read_state", "id": "1", "args": {"q": "a", "state": {"messages": said}}}
    assert read_state.invoke(of_call).content == "a hi HumanMessage hi None"
    assert pass_on.invoke({"q": "a"}, state={"user": "Ada"}) == "a Ada"


def test_what_may_be_a_models_is_not_taken() -> None:
    """JSON in a ToolCall, or where the program gives the hidden values beside the call."""
    of_model = {"type": "tool_call", "name": "read_who", "id": "1", "args": {"q": "a", "who": "root"}}

    message = read_who.invoke(of_model)

    assert (message.content, message.response_metadata["ignored_args"]) == ("a guest", ["who"])
    assert read_who.invoke({"q": "a", "who": "root"}, context={"who": "Ada"}) == "a Ada"
    with pytest.raises(MissingContext):
        read_state.invoke({**of_model, "name": "read_state", "args": {"q": "a", "state": {"messages": []}}})


async def test_nothing_hidden_is_taken_over_http(make_client: MakeClient) -> None:
    """In any form of the call."""
    client = await make_client(read_who)

    answer = await client.post("/tool_calls", json={"name": "read_who", "args": {"q": "a", "who": "root"}})

    assert (answer.json()["content"], answer.json()["response_metadata"]["ignored_args"]) == ("a guest", ["who"])
