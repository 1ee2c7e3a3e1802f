"""The callbacks of a LangChain tool hear of arguments that are refused, as they do at home."""

from contextlib import suppress
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel, ValidationError, field_validator

from sidecall import tool
from tests.kit.calls import run


def _describe(error: BaseException) -> Any:
    if not isinstance(error, ValidationError):
        return type(error).__name__
    return [(it["type"], it["loc"], it["input"]) for it in error.errors()]


class Heard(BaseCallbackHandler):
    """Note what is heard."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_tool_start(self, serialized: Any, input_str: str, **details: Any) -> None:
        """Note the start."""
        self.events.append(
            ("start", serialized, input_str, details["inputs"], details["tool_call_id"], details["tags"])
        )

    def on_tool_end(self, output: Any, **_: Any) -> None:
        """Note the end."""
        self.events.append(("end", output.content))

    def on_tool_error(self, error: BaseException, **details: Any) -> None:
        """Note the failure."""
        self.events.append(("error", _describe(error), details["tool_call_id"]))


class HeardLater(AsyncCallbackHandler, Heard):
    """Note it asynchronously."""

    async def on_tool_error(self, error: BaseException, **details: Any) -> None:  # type: ignore[override]
        """Note the failure."""
        Heard.on_tool_error(self, error, **details)

    async def on_tool_start(self, serialized: Any, input_str: str, **details: Any) -> None:  # type: ignore[override]
        """Note the start."""
        Heard.on_tool_start(self, serialized, input_str, **details)

    async def on_tool_end(self, output: Any, **_: Any) -> None:  # type: ignore[override]
        """Note the end."""
        Heard.on_tool_end(self, output)


class Args(BaseModel):
    """What is taken."""

    n: int
    unit: str = "m"

    @field_validator("n")
    @classmethod
    def _refuse(cls, value: int) -> int:
        if value == 13:
            raise ValueError("not 13")
        return value


@langchain_tool(args_schema=Args)
def measure(n: int, unit: str) -> str:
    """Measure."""
    if n == 0:
        Args(n="x")  # type: ignore[arg-type]  # what fails in its own code
    if n < 0:
        raise KeyError(n)
    return f"{n}{unit}"


@langchain_tool
async def later(n: int, unit: str = "m") -> str:
    """Measure later."""
    return f"{n}{unit}"


class Written(BaseTool):
    """Measure, as a class."""

    name: str = "written"
    description: str = "Measure."
    args_schema: Any = Args

    def _run(self, n: int, unit: str = "m") -> str:
        return f"{n}{unit}"


@pytest.mark.parametrize("kind", [Heard, HeardLater])
@pytest.mark.parametrize("handles", [False, True])
@pytest.mark.parametrize(
    ("it", "args"),
    [
        (measure, {"n": "x"}),
        (measure, {}),
        (measure, {"n": 13}),
        (measure, {"n": 1, "unit": 5}),
        (measure, {"n": 1}),
        (measure, {"n": 0}),
        (measure, {"n": -1}),
        (later, {"n": None}),
        (later, {"n": 1}),
        (Written(), {"n": [1]}),
        (Written(), {"n": 2}),
    ],
    ids=lambda it: it.name if isinstance(it, BaseTool) else str(it),
)
async def test_they_hear_what_they_hear_at_home(kind: Any, handles: bool, it: Any, args: dict[str, Any]) -> None:
    """The same start, the same error of pydantic, once; and how other calls end."""
    home, ours = kind(), kind()
    call = {"type": "tool_call", "name": it.name, "args": args, "id": "call_1"}
    with suppress(ValidationError, KeyError):
        await it.model_copy(update={"tags": ["t"], "callbacks": [home]}).ainvoke(call)

    about = {"tags": ["t"], "handle_validation_error": handles, "callbacks": [ours]}
    await run(tool(it.model_copy(update=about)), args)

    assert ours.events == home.events
    assert len(ours.events) == 2


async def test_they_hear_of_arguments_that_langchain_lets_through() -> None:
    """As pydantic says them, though it has not checked them: those of a JSON Schema."""
    heard = Heard()
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    it = StructuredTool.from_function(func=lambda n: n, name="it", description="It.", args_schema=schema)
    it.callbacks = [heard]

    message = await run(tool(it), {"n": "x"})

    assert message.response_metadata["error"]["kind"] == "invalid_arguments"
    assert [it[:2] for it in heard.events] == [
        ("start", {"name": "it", "description": "It."}),
        ("error", [("type", ("n",), "x")]),
    ]


async def test_our_own_callbacks_are_told_beside_them() -> None:
    """Those that are given with the offer."""
    theirs, ours = Heard(), Heard()

    await run(tool(measure.model_copy(update={"callbacks": [theirs]}), callbacks=[ours]), {"n": "x"})

    assert [it[0] for it in theirs.events] == [it[0] for it in ours.events] == ["start", "error"]


async def test_nothing_is_kept_of_calls_that_have_ended() -> None:
    """However they end."""
    it = tool(measure.model_copy(update={"callbacks": [Heard()]}))
    [teller] = it.callbacks or []

    for n in ("x", 1, 0, -1):
        await run(it, {"n": n})

    assert vars(teller)["_sent"] == {}
