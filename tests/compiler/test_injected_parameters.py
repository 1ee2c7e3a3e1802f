"""What a tool is given beside its arguments is described with names, places and schemas."""

import dataclasses
import threading
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel, Field, ValidationError

from sidecall import (
    CommandSandbox,
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    Secret,
    Store,
    ToolContext,
    ToolRuntime,
    UserToken,
    tool,
)


class User(BaseModel):
    """A user."""

    id: int
    names: list[str] = []


class Place(TypedDict):
    """A place."""

    city: str


@dataclasses.dataclass
class Options:
    """What may be left out."""

    days: int = 3


class Arguments(BaseModel):
    """An author's model."""

    word: str
    user: Annotated[User, InjectedState("user")]
    limit: Annotated[int, InjectedToolArg()] = Field(default=3, ge=1)
    key: Annotated[str, Secret("KEY")] = ""


USER = {
    "description": "A user.",
    "properties": {"id": {"type": "integer"}, "names": {"default": [], "items": {"type": "string"}, "type": "array"}},
    "required": ["id"],
    "type": "object",
}
PLACE = {"properties": {"city": {"type": "string"}}, "required": ["city"], "type": "object"}
OBJECT = {"additionalProperties": True, "type": "object"}
TEXT = {"type": "string"}


@tool
def of_state(
    user: Annotated[User, InjectedState("user")],
    whole: Annotated[dict[str, Any], InjectedState],
    maybe: Annotated[int | None, InjectedState("n")] = None,
) -> str:
    """Take what is in the state."""
    return f"{user}{whole}{maybe}"


@tool
def of_context(
    tenant: Annotated[str, InjectedToolArg],
    lock: Annotated[Any, InjectedToolArg],
    late: Annotated[int, InjectedToolArg()] = 3,
) -> str:
    """Take what is in the context."""
    return f"{tenant}{lock}{late}"


@tool
def of_server(
    store: Annotated[Store, InjectedStore],
    key: Annotated[str, Secret("API_KEY")],
    own: Annotated[str, Secret("OWN", of="caller")] = "",
    token: Annotated[str, UserToken("github")] = "",
) -> str:
    """Take what the server has."""
    return f"{store}{key}{own}{token}"


@tool
def of_thread(lock: Annotated[threading.Event, InjectedToolArg]) -> str:
    """Take what only a program in this process has."""
    return str(lock)


@tool
def of_call(call_id: Annotated[str, InjectedToolCallId], context: ToolContext, commands: CommandSandbox) -> str:
    """Take what needs nobody."""
    return f"{call_id}{context}{commands}"


@tool
def of_type(context: ToolContext[Place]) -> str:
    """Say which context it takes."""
    return str(context)


@tool
def of_options(context: ToolContext[Options]) -> str:
    """Say which context it may take."""
    return str(context)


@tool
def of_maybe(context: ToolContext[User | None]) -> str:
    """Say that the context may lack."""
    return str(context)


@tool
def of_runtime(runtime: ToolRuntime[User, Place]) -> str:
    """Say which context and state it takes."""
    return str(runtime)


@tool
def of_any_runtime(runtime: ToolRuntime) -> str:
    """Say nothing of them."""
    return str(runtime)


@tool(args_schema=Arguments)
def of_model(word: str, user: User, limit: int, key: str) -> str:
    """Take fields of a model."""
    return f"{word}{user}{limit}{key}"


@pytest.mark.parametrize(
    ("asked", "injected"),
    [
        (
            of_state,
            [
                ("user", "state", "state.user", USER, True),
                ("whole", "state", "state", OBJECT, True),
                ("maybe", "state", "state.n", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, False),
            ],
        ),
        (
            of_context,
            [
                ("tenant", "context", "context.tenant", TEXT, True),
                ("lock", "context", "context.lock", {}, True),
                ("late", "context", "context.late", {"type": "integer"}, False),
            ],
        ),
        (
            of_server,
            [
                ("store", "store", "store", {}, True),
                ("key", "secret", "API_KEY", TEXT, True),
                ("own", "secret", "OWN", TEXT, False),
                ("token", "token", "github", TEXT, False),
            ],
        ),
        (of_thread, [("lock", "context", "context.lock", {}, True)]),
        (of_call, []),
        (of_type, [("context", "context", "context", PLACE, True)]),
        (
            of_options,
            [
                (
                    "context",
                    "context",
                    "context",
                    {
                        "description": "What may be left out.",
                        "properties": {"days": {"default": 3, "type": "integer"}},
                        "type": "object",
                    },
                    False,
                )
            ],
        ),
        (of_runtime, [("runtime", "context", "context", USER, True), ("runtime", "state", "state", PLACE, False)]),
        (of_any_runtime, []),
        (
            of_model,
            [
                ("user", "state", "state.user", USER, True),
                ("limit", "context", "context.limit", {"minimum": 1, "type": "integer"}, False),
                ("key", "secret", "KEY", TEXT, False),
            ],
        ),
    ],
    ids=lambda it: getattr(it, "name", ""),
)
def test_injected_parameters_are_described(asked: Any, injected: list[tuple[Any, ...]]) -> None:
    """In their order, with where the value is put, its schema, and whether it may lack."""
    described = asked.compiled.describe_injected()

    assert [(it.name, it.source, it.path, _bare(it.value_schema), it.required) for it in described] == [
        (name, source, path, _bare(schema), required) for name, source, path, schema, required in injected
    ]


def _bare(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def test_a_context_that_may_be_none_is_optional() -> None:
    """A call without a context is no mistake."""
    [described] = of_maybe.compiled.describe_injected()

    assert (described.required, described.value_schema["anyOf"][1]) == (False, {"type": "null"})


def test_a_schema_says_what_is_accepted() -> None:
    """Values that do not fit it are refused by what checks them."""
    injection = of_state.compiled.injections[0]
    assert injection.adapter is not None

    assert injection.adapter.validate_python({"id": 3}) == User(id=3)
    with pytest.raises(ValidationError):
        injection.adapter.validate_python({})
