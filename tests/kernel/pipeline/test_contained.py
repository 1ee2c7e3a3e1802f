"""A call fails alone, no matter what class of exception the code of its author raises, and wherever that stands."""

import asyncio
from contextvars import ContextVar
from typing import Annotated, Any, NoReturn

import pytest
from pydantic import AfterValidator, BaseModel, Field

from sidecall import (
    BaseCallbackHandler,
    BaseTool,
    InjectedState,
    Secret,
    ToolException,
    ToolRuntime,
    tool,
    tool_input_guardrail,
    tool_output_guardrail,
)
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline, run_all
from tests.kit.tools import ping


class Own(BaseException):
    """What no library knows."""


KINDS: list[type[BaseException]] = [
    StopIteration, StopAsyncIteration, GeneratorExit, MemoryError, RecursionError, KeyboardInterrupt, SystemExit,
    asyncio.CancelledError, LookupError, Own,
]  # fmt: skip


CURRENT: ContextVar[type[BaseException]] = ContextVar("CURRENT")


def boom(*_: Any, **__: Any) -> NoReturn:
    """Raise what is tried."""
    raise CURRENT.get()("x")


Checked = Annotated[str, AfterValidator(lambda _: boom())]


class Context(BaseModel):
    """What cannot be checked."""

    x: Checked


class Listener(BaseCallbackHandler):
    """Crash at each event."""

    on_tool_start = on_tool_end = on_tool_error = boom  # type: ignore[assignment]


class Command:
    """Look like one."""

    goto = ()
    update = property(boom)


class Unserializable:
    """Have no text."""

    __str__ = boom


def validate(x: Checked) -> None:
    """Take what cannot be checked."""


def default(x: Annotated[str, Field(default_factory=lambda: boom())]) -> None:
    """Take what has no default."""


def state(s: Annotated[Checked, InjectedState("s")]) -> None:
    """Take what the state lacks."""


def secret(s: Annotated[Checked, Secret("HOME")]) -> None:
    """Take a secret."""


def runtime(r: ToolRuntime[Context, Any]) -> None:
    """Take a context."""


def body() -> None:
    """Crash."""
    boom()


def refuse() -> str:
    """Refuse."""
    raise ToolException("no")


def say() -> str:
    """Answer."""
    return "said"


def make(name: str, function: Any = say, **options: Any) -> BaseTool:
    """Make a tool that runs on the event loop, where a crash is worst."""
    made: BaseTool = tool(name, description="Do.", executor="inline", **options)(function)
    return made


TOOLS = [
    *(make(it.__name__, it) for it in (validate, default, state, secret, runtime, body)),
    make("is_enabled", is_enabled=lambda _: boom()),
    make("handler", refuse, handle_tool_error=lambda _: boom()),
    make("input_guardrail", tool_input_guardrails=[tool_input_guardrail(lambda _: boom())]),
    make("output_guardrail", tool_output_guardrails=[tool_output_guardrail(lambda _: boom())]),
    make("callbacks", callbacks=[Listener()]),
    make("command", lambda: Command()),
    make("unsayable", lambda: {"a": Unserializable()}),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_no_failure_reaches_the_neighbours(kind: type[BaseException]) -> None:
    """Each call of the batch has its answer, and the one beside them all has its own."""
    CURRENT.set(kind)
    pipeline = make_pipeline([*TOOLS, ping])
    beside = {"state": {"s": "x"}, "context": {"x": "y"}}
    requests = [write_request(it.name, {"x": "1"} if it.name == "validate" else {}, **beside) for it in TOOLS]

    answers = await run_all(pipeline, [*requests, write_request("ping")])

    assert [answer.name for answer in answers] == [*(it.name for it in TOOLS), "ping"]
    assert answers[-1].content == "pong"
    assert {it.name: it.status for it in answers if it.status == "success"}.keys() == {"callbacks", "ping"}
