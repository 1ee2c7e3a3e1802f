"""Handlers hear what happens to a call, and can do it no harm."""

import asyncio
import contextlib
import threading
from typing import Annotated, Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel, ValidationError

from sidecall import (
    BaseCallbackHandler,
    InjectedToolArg,
    StructuredTool,
    ToolException,
    ToolMessage,
    tool,
)
from sidecall.kernel.core.errors import MissingContext
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from tests.kit.calls import run


class Diary(BaseCallbackHandler):
    """Write down what is heard, in threads."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.details: list[dict[str, Any]] = []
        self.threads: set[str] = set()

    def _note(self, event: str, said: Any, details: dict[str, Any]) -> None:
        self.heard.append((event, said))
        self.details.append(details)
        self.threads.add(threading.current_thread().name)

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **details: Any) -> None:
        """Note a start."""
        self._note("start", (serialized, input_str), details)

    def on_tool_end(self, output: Any, **details: Any) -> None:
        """Note an end."""
        self._note("end", output.content, details)

    def on_tool_error(self, error: BaseException, **details: Any) -> None:
        """Note an error."""
        self._note("error", type(error), details)


class AsyncDiary(AsyncCallbackHandler):
    """Write down what a handler of LangChain's hears."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    async def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **_: Any) -> None:
        """Note a start."""
        self.heard.append((serialized["name"], input_str, run_id.version))

    async def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Note an end."""
        self.heard.append((output.status, output.tool_call_id, run_id.version))


def _greeting(*handlers: Any, fail: BaseException | None = None, **options: Any) -> StructuredTool:
    @tool("greet", callbacks=list(handlers), tags=["a"], metadata={"team": "x"}, **options)
    async def greet(name: str, options: Any = None, token: Annotated[str, InjectedToolArg] = "secret") -> Any:
        """Greet."""
        if fail is not None:
            raise fail
        return options or f"Hi {name}"

    return greet


async def _call(offered: StructuredTool, **args: Any) -> ToolMessage:
    return await run(offered, {"name": "Bo", **args})


START = ("start", ({"name": "greet", "description": "Greet."}, "{'name': 'Bo'}"))


async def test_a_handler_hears_start_and_end() -> None:
    """With what LangChain's handlers are told; the run's id is the invocation's."""
    diary = Diary()

    message = await _call(_greeting(diary))
    common = {
        "run_id": UUID(message.id or ""),
        "parent_run_id": None,
        "tags": ["a"],
        "metadata": {"team": "x"},
        "name": "greet",
        "tool_call_id": "call_1",
    }

    assert diary.heard == [START, ("end", "Hi Bo")]
    assert diary.details == [{**common, "inputs": {"name": "Bo"}}, common]


async def test_what_is_hidden_is_hidden_from_handlers_too() -> None:
    """Be it forged or injected."""
    diary = Diary()
    call = {"type": "tool_call", "args": {"name": "Bo", "token": "forged"}}

    await _greeting(diary).ainvoke(call, context={"token": "canary-4711"})

    assert diary.heard[0] == START
    assert diary.details[0]["inputs"] == {"name": "Bo"}
    assert "canary-4711" not in repr((diary.heard, diary.details))


async def test_a_handler_that_is_not_async_runs_in_a_thread() -> None:
    """It may write to files and networks."""
    diary = Diary()

    await _call(_greeting(diary))

    assert threading.current_thread().name not in diary.threads


async def test_a_handler_of_langchain_hears_as_well() -> None:
    """Written for it, async, and with arguments of its own choice."""
    diary = AsyncDiary()

    await _call(_greeting(diary))

    assert diary.heard == [("greet", "{'name': 'Bo'}", 7), ("success", "call_1", 7)]


async def test_handlers_hear_at_the_same_time() -> None:
    """Each waits for the other."""
    meeting = asyncio.Barrier(2)

    class Meeting:
        async def on_tool_start(self, *_: Any) -> None:
            await meeting.wait()

    async with asyncio.timeout(30):
        message = await _call(_greeting(Meeting(), Meeting()))

    assert message.content == "Hi Bo"


async def test_what_a_plain_function_gives_to_await_is_awaited() -> None:
    """Wrappers hide that what they wrap is async."""
    heard: list[str] = []

    async def later(text: str) -> None:
        heard.append(text)

    class Wrapped:
        def on_tool_end(self, output: ToolMessage) -> Any:
            return later(str(output.content))

    await _call(_greeting(Wrapped()))

    assert heard == ["Hi Bo"]


FAILURES: list[Any] = [
    pytest.param(ToolException("No."), ToolException, id="error of the tool"),
    pytest.param(ValueError("secret"), ValueError, id="crash"),
    pytest.param(SystemExit(3), SystemExit, id="exit"),
]


def _because(error: Exception, reason: Exception) -> Exception:
    error.__cause__ = reason
    return error


@pytest.mark.parametrize(
    ("error", "heard"), [*FAILURES, pytest.param(_because(ToolException("No."), KeyError("k")), ToolException, id="of")]
)
@pytest.mark.parametrize("options", [{}, {"handle_tool_error": None}, {"failure_error_function": lambda _, __: None}])
async def test_a_handler_hears_what_the_tool_raised(error: BaseException, heard: type, options: Any) -> None:
    """Whether the model or the calling program is told of it."""
    diary = Diary()

    await asyncio.gather(_call(_greeting(diary, fail=error, **options)), return_exceptions=True)

    assert diary.heard == [START, ("error", heard)]


async def test_refused_arguments_are_a_start_and_an_error() -> None:
    """As in LangChain, where the start comes before the arguments are read."""
    diary = Diary()

    await _call(_greeting(diary), name=[1])

    assert [event for event, _ in diary.heard] == ["start", "error"]
    assert diary.details[0]["inputs"] == {"name": [1]}
    assert diary.heard[1] == ("error", ValidationError)


class Faults(BaseCallbackHandler):
    """Write down what pydantic's errors say."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_tool_error(self, error: BaseException, **_: Any) -> None:
        """Note what is wrong where."""
        assert isinstance(error, ValidationError)
        self.heard.append([(it["type"], it["loc"], it["msg"], it["input"]) for it in error.errors()])


@pytest.mark.parametrize("args", [{"a": "x"}, {}, {"b": [1, "y"]}, {"a": 1, "b": "z"}], ids=str)
def test_refused_arguments_are_heard_as_langchain_says_them(args: Any) -> None:
    """With their rule, place, words and value."""
    faults = []
    for decorate in (langchain_tool, tool):

        @decorate
        def count(a: int, b: list[int] | None = None) -> str:
            """Count."""
            return f"{a} {b}"

        heard = Faults()
        call: Any = {"type": "tool_call", "name": "count", "args": args, "id": "1"}
        with contextlib.suppress(ValidationError):
            count.invoke(call, {"callbacks": [heard]})
        faults.append(heard.heard)

    assert faults[1] == faults[0]


class Signed(BaseModel):
    """Arguments with one that is hidden."""

    a: int
    key: Annotated[str, InjectedToolArg]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize("schema", [Signed, SCHEMA], ids=["model", "json"])
@pytest.mark.parametrize(("args", "rule", "value"), [({}, "missing", {}), ({"a": "x"}, None, "x")])
def test_what_is_hidden_is_not_heard(schema: Any, args: Any, rule: str | None, value: Any) -> None:
    """Nor is there need of a model: an error of a JSON Schema has the same form."""
    heard = Faults()

    @tool(args_schema=schema, callbacks=[heard])
    def sign(**values: Any) -> str:
        """Sign."""
        return str(values)

    sign.invoke({"type": "tool_call", "name": "sign", "args": args, "id": "1"}, context={"key": "secret"})

    [[(found, loc, _, shown)]] = heard.heard
    assert (loc, shown) == (("a",), value)
    assert rule in (None, found)


async def test_malformed_arguments_are_no_inputs() -> None:
    """There is nothing to show."""
    diary = Diary()

    await _greeting(diary).ainvoke({"type": "tool_call", "args": "{"})

    assert diary.details[0]["inputs"] == {}
    assert [event for event, _ in diary.heard] == ["start", "error"]


async def test_a_call_that_waits_has_not_started() -> None:
    """Its events come once it is approved."""
    diary = Diary()
    greet = _greeting(diary, requires_approval=True)

    with pytest.raises(ApprovalRequired):
        await _call(greet)
    before = list(diary.heard)
    await greet.ainvoke({"name": "Bo"}, approved=True)

    assert before == []
    assert diary.heard == [START, ("end", "Hi Bo")]


async def test_a_call_that_its_caller_left_incomplete_has_not_started() -> None:
    """It is no call yet."""
    diary = Diary()

    @tool(callbacks=[diary])
    async def look(token: Annotated[str, InjectedToolArg]) -> str:
        """Look."""
        return token

    with pytest.raises(MissingContext):
        await look.ainvoke({})

    assert diary.heard == []


class Meeting(BaseCallbackHandler):
    """Go on only when so many have come."""

    def __init__(self, count: int) -> None:
        self.heard: list[str] = []
        self._all = threading.Barrier(count, timeout=60)

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **_: Any) -> None:
        """Wait for the others."""
        del serialized
        self._all.wait()
        self.heard.append(input_str)


async def test_a_handler_hears_of_all_calls_that_run_at_once() -> None:
    """Only one that is not done in time is left behind."""
    meeting = Meeting(12)

    @tool(callbacks=[meeting])
    async def count(number: int) -> int:
        """Count."""
        return number

    await asyncio.gather(*(run(count, {"number": number}) for number in range(12)))

    assert sorted(meeting.heard) == sorted(str({"number": number}) for number in range(12))
