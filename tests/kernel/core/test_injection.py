"""What the caller or the server supplies is neither shown to the model nor taken from it."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from sidecall import BaseTool, InjectedState, InjectedToolArg, InjectedToolCallId, ToolContext, tool
from sidecall.kernel.core.errors import DefinitionError, MissingContext
from tests.kit.calls import run

CANARY = "canary-4711"


class Connection:
    """Something that JSON cannot say."""


class Session(BaseModel):
    """What a caller keeps."""

    user: str


class OwnMarker(InjectedToolArg):
    """A marker of the author's own."""


class OwnContext(ToolContext):
    """A context of the author's own."""


@tool
async def everything(
    query: str,
    ctx: ToolContext,
    call_id: Annotated[str, InjectedToolCallId],
    state: Annotated[dict[str, Any], InjectedState],
    user: Annotated[str, InjectedState("user")],
    key: Annotated[int, InjectedToolArg()],
    own: Annotated[str, OwnMarker] = "own",
    *,
    optional: Annotated[str, InjectedToolArg] | None = None,
    nested: Annotated[Annotated[int, "text"] | None, InjectedState("count")] = 5,
    maybe: ToolContext | None = None,
) -> list[Any]:
    """Take one of each."""
    return [{"v": [query, call_id, state, user, key, own, optional, nested, maybe is ctx, ctx.tool_call_id]}]


async def test_each_marker_is_found_wherever_it_sits() -> None:
    """Inside a union, nested, as a class or as an instance, by any name and in any position."""
    message = await run(
        everything, {"query": "q"}, state={"user": "bo", "count": 7}, context={"key": "3", "own": "o", "optional": "x"}
    )

    assert everything.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    }
    assert message.content == (
        '[{"v": ["q", "call_1", {"user": "bo", "count": 7}, "bo", 3, "o", "x", 7, true, "call_1"]}]'
    )


async def test_a_hidden_parameter_that_nobody_supplies_keeps_its_default() -> None:
    """Only those without one are owed by the caller."""
    message = await run(everything, {"query": "q"}, state={"user": "bo"}, context={"key": 3})

    assert message.content == '[{"v": ["q", "call_1", {"user": "bo"}, "bo", 3, "own", null, 5, true, "call_1"]}]'


async def test_what_the_model_forges_is_dropped_and_reported() -> None:
    """Hidden parameters are not the model's to fill, whether they have a default or not."""
    forged = {"query": "q", "user": CANARY, "key": 9, "ctx": CANARY, "optional": CANARY, "call_id": CANARY}

    message = await run(everything, forged, state={"user": "bo"}, context={"key": 3})

    assert message.content == '[{"v": ["q", "call_1", {"user": "bo"}, "bo", 3, "own", null, 5, true, "call_1"]}]'
    assert message.response_metadata["ignored_args"] == ["call_id", "ctx", "key", "optional", "user"]


@pytest.mark.parametrize(
    ("state", "context", "expected"),
    [
        ({"user": "bo"}, {}, "The tool needs `context.key` beside the call, for its parameter `key`."),
        ({}, {"key": 1}, "The tool needs `state.user` beside the call, for its parameter `user`."),
        (None, {"key": 1}, "The tool needs `state` beside the call, for its parameter `state`."),
        # of the wrong type, said without what was sent
        (
            {"user": "bo"},
            {"key": CANARY},
            "The tool cannot use what was sent as `context.key`: "
            "Input should be a valid integer, unable to parse string as an integer.",
        ),
        (CANARY, {"key": 1}, "The tool cannot use what was sent as `state`: Input should be a valid dictionary."),
    ],
)
async def test_what_the_caller_owes_is_asked_of_the_caller(state: Any, context: dict[str, Any], expected: str) -> None:
    """The model can do nothing about it."""
    with pytest.raises(MissingContext) as caught:
        await run(everything, {"query": "q"}, state=state, context=context)

    assert caught.value.message == expected


async def test_state_is_checked_against_the_annotated_type() -> None:
    """A model gets an instance, and Any gets what was sent."""

    @tool
    async def greet(session: Annotated[Session, InjectedState], raw: Annotated[Any, InjectedState("user")]) -> str:
        """Greet."""
        return f"{session!r} {raw}"

    message = await run(greet, {}, state={"user": "bo"})

    assert message.content == "Session(user='bo') bo"


async def test_a_mistake_inside_the_state_is_located() -> None:
    """The path begins at what the caller wrote."""

    @tool
    async def greet(session: Annotated[Session, InjectedState]) -> str:
        """Greet."""
        return session.user

    with pytest.raises(MissingContext) as caught:
        await run(greet, {}, state={"user": [CANARY]})

    assert caught.value.message == (
        "The tool cannot use what was sent as `state.user`: Input should be a valid string."
    )


async def test_a_field_of_a_state_that_is_no_object_is_missing() -> None:
    """Nothing can be looked up in a text."""

    @tool
    async def greet(user: Annotated[str, InjectedState("user")]) -> str:
        """Greet."""
        return user

    with pytest.raises(MissingContext, match=r"needs `state\.user`"):
        await run(greet, {}, state="user")


async def test_an_unannotated_injected_value_is_passed_on_as_it_is() -> None:
    """In process a caller may hand over what JSON cannot say."""
    connection = Connection()

    @tool
    async def query(db: Annotated[Any, InjectedToolArg]) -> bool:
        """Query."""
        return db is connection

    assert (await run(query, {}, context={"db": connection})).content == "true"


async def test_an_injected_type_need_not_be_sayable_in_json() -> None:
    """Hiding such a parameter is what the errors about unsayable types advise."""
    connection = Connection()

    @tool
    async def query(db: Annotated[Connection, InjectedToolArg]) -> bool:
        """Query."""
        return db is connection

    assert (await run(query, {}, context={"db": connection})).content == "true"


async def test_a_subclass_of_tool_context_counts() -> None:
    """It is hidden like the class itself."""

    @tool
    async def look(ctx: OwnContext) -> str:
        """Look."""
        return ctx.tool_name

    assert (await run(look, {})).content == "look"
    assert look.compiled.args_schema.json_schema == {"type": "object", "properties": {}}


async def test_an_injected_positional_only_parameter_comes_in_its_place() -> None:
    """With its value or with its default."""

    @tool
    async def pair(left: Annotated[int, InjectedToolArg] = 7, right: int = 1, /) -> dict[str, int]:
        """Pair."""
        return {"left": left, "right": right}

    assert (await run(pair, {"right": 3})).content == '{"left": 7, "right": 3}'
    assert (await run(pair, {}, context={"left": 2})).content == '{"left": 2, "right": 1}'


def test_a_marker_on_a_variadic_parameter_is_refused_at_the_start() -> None:
    """There is no one value to inject."""

    @tool
    def total(*numbers: Annotated[int, InjectedToolArg]) -> int:
        """Sum."""
        return sum(numbers)

    with pytest.raises(DefinitionError, match="numbers"):
        _ = total.compiled


class Marked(BaseModel):
    """Arguments of the author's own, with markers inside."""

    query: str
    key: Annotated[int, InjectedToolArg]
    call_id: Annotated[str | None, InjectedToolCallId] = None


@tool(args_schema=Marked)
async def marked_twice(
    query: str, key: Annotated[int, InjectedToolArg], call_id: Annotated[str, InjectedToolCallId]
) -> dict[str, Any]:
    """Search."""
    return {"query": query, "key": key, "call_id": call_id}


@tool(args_schema=Marked)
async def marked_in_the_model(query: str, key: int, call_id: str | None) -> dict[str, Any]:
    """Search."""
    return {"query": query, "key": key, "call_id": call_id}


@pytest.mark.parametrize("offered", [marked_twice, marked_in_the_model], ids=["twice", "model"])
async def test_markers_inside_an_args_schema_hide_and_fill(offered: BaseTool) -> None:
    """Forged values are dropped there too."""
    message = await run(offered, {"query": "q", "key": 9, "call_id": CANARY}, context={"key": 3})

    assert list(offered.compiled.args_schema.json_schema["properties"]) == ["query"]
    assert message.content == '{"query": "q", "key": 3, "call_id": "call_1"}'
    assert sorted(message.response_metadata["ignored_args"]) == ["call_id", "key"]
