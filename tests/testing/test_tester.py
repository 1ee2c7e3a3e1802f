"""ToolTester calls a tool as a server does."""

import asyncio
import contextvars
import os
import threading
from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from sidecall import (
    BaseTool,
    BaseToolkit,
    Cache,
    Caller,
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    Registry,
    Secret,
    Store,
    ToolAnnotations,
    ToolContext,
    ToolException,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    Workspace,
    function_tool,
    tool,
    tool_input_guardrail,
)
from sidecall.client import Progress
from sidecall.kernel.core.errors import DefinitionError
from sidecall.testing import (
    GuardrailTripped,
    MissingContext,
    NotAToolCall,
    ToolCallFailed,
    ToolTester,
)
from tests.testing import far_tools


@tool
async def describe(
    text: str,
    *,
    home: Annotated[str, InjectedState("home")] = "nowhere",
    user: Annotated[str, InjectedToolArg] = "nobody",
    key: Annotated[str, Secret("API_KEY")] = "none",
    own: Annotated[str, Secret("API_KEY", of="caller")] = "none",
    context: ToolContext,
) -> dict[str, Any]:
    """Say what came with the call."""
    header = context.headers.get("X-Team", "none")
    who = f"{context.caller.tenant}/{context.caller.subject}"
    return {"text": text, "home": home, "user": user, "keys": [len(key), len(own)], "team": header, "who": who}


@pytest.mark.parametrize(
    ("supplied", "seen"),
    [
        ({}, {"home": "nowhere", "user": "nobody", "keys": [4, 4], "team": "none", "who": "default/anonymous"}),
        ({"state": {"home": "Oslo"}}, {"home": "Oslo"}),
        ({"context": {"user": "ada"}}, {"user": "ada"}),
        ({"secrets": {"API_KEY": "sk-123456"}}, {"keys": [9, 9]}),
        ({"headers": {"x-team": "tools"}}, {"team": "tools"}),
        ({"caller": "ada"}, {"who": "default/ada"}),
        ({"caller": Caller("ada", "acme")}, {"who": "acme/ada"}),
    ],
)
def test_a_call_comes_with_what_is_supplied(supplied: dict[str, Any], seen: dict[str, Any]) -> None:
    """Each in its own parameter."""
    answer = ToolTester(describe, **supplied).call(text="hi")

    assert answer.status == "success"
    assert {key: answer.value[key] for key in seen} == seen


def test_without_secrets_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a server; with any, only they are there."""
    monkeypatch.setenv("API_KEY", "sk-from-the-environment")

    assert ToolTester(describe).call(text="hi").value["keys"] == [23, 4]
    assert ToolTester(describe, secrets={}).call(text="hi").value["keys"] == [4, 4]


@pytest.mark.parametrize("name", ["state", "context"])
def test_what_no_program_can_send_is_refused(name: str) -> None:
    """A tool that needs such an object works on no server."""
    supplied: dict[str, Any] = {name: {"lock": threading.Lock()}}

    with pytest.raises(TypeError, match=f"`{name}` has to be what a program can send as JSON"):
        ToolTester(describe, **supplied)


@tool_input_guardrail
def no_war(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    """Keep some words out."""
    if data.args["text"] == "war":
        return ToolGuardrailFunctionOutput.reject_content("Say something else.")
    if data.args["text"] == "alarm":
        return ToolGuardrailFunctionOutput.raise_exception("seen")
    return ToolGuardrailFunctionOutput.allow()


@tool(timeout=0.05, tool_input_guardrails=[no_war])
async def handle(text: str, state: Annotated[dict[str, Any], InjectedState] | None = None) -> str:
    """Do what the text says."""
    match text:
        case "refuse":
            raise ToolException("Not today.", retryable=True)
        case "crash":
            raise RuntimeError("sk-secret")
        case "hang":
            await asyncio.sleep(60)
    return text


@pytest.mark.parametrize(
    ("args", "kind", "content", "retryable"),
    [
        ({"text": "refuse"}, "tool_error", "Not today.", True),
        ({"text": "crash"}, "execution_error", "Error: handle failed unexpectedly", False),
        ({"text": "hang"}, "timeout", "Error: handle timed out after 0.05 seconds.", True),
        ({"text": "war"}, "denied", "Say something else.", False),
        ({"text": 7.5}, "invalid_arguments", "text: Input should be a string", True),
        ({}, "invalid_arguments", "text: Field required", True),
    ],
)
def test_a_failure_is_what_the_model_reads(args: dict[str, Any], kind: str, content: str, retryable: bool) -> None:
    """With its kind for programs."""
    answer = ToolTester(handle).call(**args)

    assert answer.status == "error"
    assert answer.error is not None
    assert (answer.error.kind, answer.error.retryable) == (kind, retryable)
    assert str(answer.content).startswith(content)


@tool(handle_tool_error=None)
def strict(text: str) -> str:
    """Let failures through."""
    raise ToolException(text)


@tool
def at(place: Annotated[str, InjectedState("place")]) -> str:
    """Say where."""
    return place


@pytest.mark.parametrize(
    ("tested", "args", "error"),
    [
        (handle, {"text": "alarm"}, GuardrailTripped),
        (strict, {"text": "no"}, ToolCallFailed),
        (at, {}, MissingContext),
    ],
)
def test_what_is_a_problem_of_the_program_is_raised(tested: BaseTool, args: Any, error: type[Exception]) -> None:
    """As a server refuses the request with 4xx or 500."""
    with pytest.raises(error):
        ToolTester(tested).call(**args)


@tool
async def count(name: str, store: Annotated[Store, InjectedStore()]) -> int:
    """Count the calls."""
    seen = await store.aget(("seen",), name)
    number = 1 if seen is None else seen.value["times"] + 1
    await store.aput(("seen",), name, {"times": number})
    return number


def test_the_store_is_kept_from_call_to_call() -> None:
    """A test can fill it, and look into it."""
    tester = ToolTester(count)
    tester.store.put(("seen",), "ada", {"times": 5})

    numbers = [tester.call(name=name).value for name in ("ada", "ada", "bob")]

    item = tester.store.get(("seen",), "ada")
    assert (numbers, item.value if item else None) == ([6, 7, 1], {"times": 7})
    assert ToolTester(count).call(name="ada").content == "1"


@tool
def write_down(text: str, files: Workspace) -> str:
    """Write a note, and say what was there."""
    before = files.read_bytes("note.txt").decode() if files.is_there("note.txt") else "nothing"
    files.write_bytes("note.txt", text.encode())
    return before


def test_files_belong_to_the_conversation() -> None:
    """Without one they are gone with their call."""
    tester = ToolTester(write_down, conversation="chat-1")
    tester.workspace.write_bytes("note.txt", b"before")

    assert [tester.call(text=text).content for text in ("a", "b")] == ["before", "a"]
    assert tester.workspace.read_bytes("note.txt") == b"b"
    passing = ToolTester(write_down)
    assert [passing.call(text=text).content for text in ("a", "b")] == ["nothing", "nothing"]
    with pytest.raises(LookupError, match="conversation='chat-1'"):
        passing.workspace  # noqa: B018


CALLS: list[str] = []


@tool(cache=Cache(ttl=60), annotations=ToolAnnotations(read_only=True))
def look_up(word: str) -> str:
    """Look a word up."""
    CALLS.append(word)
    return word.upper()


def test_answers_are_cached() -> None:
    """As on a server, for one tester."""
    CALLS.clear()
    tester = ToolTester(look_up)

    assert [tester.call(word="a").content for _ in range(3)] == ["A"] * 3
    assert CALLS == ["a"]


@tool(scopes=["pay"])
def of_some(text: str) -> str:
    """Be there for some callers."""
    return text


@pytest.mark.parametrize(
    ("caller", "kind"),
    [(Caller("ada"), "unknown_tool"), (Caller("ada", scopes=frozenset({"pay"})), None), ("ada", None), (None, None)],
)
def test_scopes_count(caller: Caller | str | None, kind: str | None) -> None:
    """A tool that its caller may not use is not there."""
    error = ToolTester(of_some, caller=caller).call(text="hi").error

    assert (None if error is None else error.kind) == kind


@tool
def speak(text: str) -> Iterator[str]:
    """Speak word by word."""
    yield from text.split()


def test_parts_of_an_answer_are_recorded() -> None:
    """In order."""
    answer = ToolTester(speak).call(text="one two")

    assert answer.parts == ["one", "two"]


@tool(response_format="content_and_artifact")
def search(query: str) -> tuple[str, list[dict[str, int]]]:
    """Search."""
    return f"one hit for {query}", [{"page": 1}]


def test_the_artifact_is_for_the_program() -> None:
    """The model reads the content."""
    answer = ToolTester(search).call(query="tea")

    assert (answer.content, answer.artifact) == ("one hit for tea", [{"page": 1}])


class Shout(BaseTool):
    """Shout."""

    name: str = "shout"

    def _run(self, text: str) -> str:
        return text.upper()


class Words(BaseToolkit):
    """A group of tools."""

    mark: str = "!"

    @tool
    def end(self, text: str) -> str:
        """End a text."""
        return text + self.mark

    @tool
    def twice(self, text: str) -> str:
        """Repeat a text."""
        return text * 2


@function_tool
def moved(text: str) -> str:
    """Be moved from the Agents SDK."""
    return text


class Given:
    """What is given and called with the text `a`."""

    cases: tuple[tuple[Any, str | None, str], ...] = (
        (Shout, None, "A"),
        (Shout(), None, "A"),
        (Words(), "twice", "aa"),
        (Words(mark="?").end, None, "a?"),
        (Registry([Shout()]), None, "A"),
        ([Shout()], None, "A"),
        (moved, None, "a"),
        (of_some.compiled, None, "a"),
    )


@pytest.mark.parametrize(("given", "name", "content"), Given.cases)
def test_what_a_file_of_tools_may_offer_is_taken(given: Any, name: str | None, content: str) -> None:
    """Classes, toolkits and registries, too."""
    assert ToolTester(given, name=name).call(text="a").content == content


def _plain(text: str) -> str:
    return text


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (_plain, TypeError, "_plain is a plain function: decorate it with @tool."),
        (threading, TypeError, "The module threading offers no tool."),
        ("add", TypeError, "str is no tool, and holds none"),
        (Words(), LookupError, "Say which tool with name=...: there are end, twice."),
    ],
)
def test_what_is_no_tool_is_refused(given: Any, error: type[Exception], text: str) -> None:
    """In words."""
    with pytest.raises(error) as raised:
        ToolTester(given)
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize(
    ("sent", "call_id", "content"),
    [
        ({"name": "shout", "args": {"text": "a"}, "id": "c1"}, "c1", "A"),
        ({"id": "c2", "type": "function", "function": {"name": "shout", "arguments": '{"text": "b"}'}}, "c2", "B"),
        ({"type": "function_call", "call_id": "c3", "name": "shout", "arguments": '{"text": "c"}'}, "c3", "C"),
        ({"type": "tool_use", "id": "c4", "name": "shout", "input": {"text": "d"}}, "c4", "D"),
        ({"name": "shout", "args": '{"text": ', "id": "c5"}, "c5", "The arguments are not valid JSON"),
        ({"name": "shot", "args": {"text": "a"}, "id": "c6"}, "c6", "Error: shot is not a valid tool"),
    ],
)
def test_whole_calls_are_sent_as_models_write_them(sent: dict[str, Any], call_id: str, content: str) -> None:
    """In the form of any provider."""
    answer = ToolTester(Shout()).send(sent)

    assert answer.message.tool_call_id == call_id
    assert str(answer.content).startswith(content)


def test_what_is_no_call_is_refused() -> None:
    """As a server does, with 422."""
    with pytest.raises(NotAToolCall):
        ToolTester(Shout()).send({"text": "a"})


def test_a_model_cannot_set_what_is_hidden() -> None:
    """It is dropped, and reported."""
    answer = ToolTester(describe).call(text="hi", key="forged")

    assert (answer.value["keys"], answer.metadata["ignored_args"]) == ([4, 4], ["key"])


@tool
async def where(text: str) -> str:
    """Say in which loop and context."""
    return f"{id(asyncio.get_running_loop())} {SEEN.get()}"


SEEN: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="nothing")


def test_sync_calls_share_one_loop() -> None:
    """So that clients which a module keeps open can be used again; what the test has set in its context is seen."""
    SEEN.set("something")

    answers = [ToolTester(where).call(text="") for _ in range(2)]

    assert len({it.content for it in answers}) == 1
    assert str(answers[0].content).endswith(" something")


@tool
async def pay(amount: int, context: ToolContext) -> str:
    """Pay money."""
    await context.progress(1, 2, "asked the bank")
    return f"Paid {amount}."


async def test_async_calls_run_on_the_tests_loop() -> None:
    """Each form has its virtual base."""
    answer = await ToolTester(where).acall(text="")
    sent = await ToolTester(where).asend({"name": "where", "args": {"text": ""}, "id": "c"})

    assert str(answer.content).split()[0] == str(id(asyncio.get_running_loop()))
    assert sent.content == answer.content


async def test_calls_run_side_by_side() -> None:
    """On one tester, without mixing their progress."""
    tester = ToolTester(pay)

    answers = await asyncio.gather(*(tester.acall(amount=amount) for amount in range(5)))

    assert [it.content for it in answers] == [f"Paid {amount}." for amount in range(5)]
    assert [it.progress for it in answers] == [
        [Progress(it.message.tool_call_id, 1, 2, "asked the bank")] for it in answers
    ]


async def test_a_sync_call_that_would_wait_for_itself_is_refused() -> None:
    """In a tool that runs on the loop of sync calls."""

    @tool
    async def nested(text: str) -> str:
        """Call another tool in a test's way."""
        return str(ToolTester(where).call(text=text).content)

    answer = await asyncio.to_thread(ToolTester(nested).call, text="")

    assert answer.error is not None
    assert answer.error.kind == "execution_error"


def test_tools_run_where_they_want_to() -> None:
    """In a process of their own, too, whose progress comes over; a thread that hangs is left behind."""
    answer = ToolTester(far_tools, name="in_process").call(parent=os.getpid())

    assert (answer.value, [it.message for it in answer.progress]) == (True, ["there"])
    blocked = ToolTester(far_tools.block).call(seconds=1)
    assert blocked.error is not None
    assert blocked.error.kind == "timeout"


def test_a_tool_that_no_process_can_find_is_refused() -> None:
    """As the start of a server is."""

    @tool(executor="process")
    def local() -> str:
        """Be nowhere."""
        return ""

    with pytest.raises(DefinitionError, match="local"):
        ToolTester(local)


@pytest.mark.parametrize(
    ("given", "args", "content", "artifact"),
    [
        (far_tools.Upper, {"text": "a"}, "A", None),
        (far_tools.Upper(), {"text": "a"}, "A", None),
        (far_tools.search, {"query": "tea"}, "a hit for tea", [1]),
        ([far_tools.search], {"query": "tea"}, "a hit for tea", [1]),
        (tool(far_tools.search), {"query": "tea"}, "a hit for tea", [1]),
    ],
)
def test_tools_of_other_libraries_are_taken(given: Any, args: dict[str, Any], content: str, artifact: Any) -> None:
    """As a server takes them, and with its checks."""
    tester = ToolTester(given)

    answer = tester.call(**args)

    assert (answer.content, answer.artifact) == (content, artifact)
    assert tester.call(**dict.fromkeys(args, 7)).status == "error"


@tool(args_schema={"type": "object", "properties": {"from": {"type": "string"}, "self": {"type": "string"}}})
def travel(**places: str) -> dict[str, str]:
    """Travel."""
    return places


@pytest.mark.parametrize(
    ("written", "named", "sent"),
    [
        ({"from": "Ulm"}, {}, {"from": "Ulm"}),
        ({"from": "Ulm"}, {"self": "me"}, {"from": "Ulm", "self": "me"}),
        ({}, {}, {}),
        (None, {"self": "me"}, {"self": "me"}),
    ],
)
async def test_arguments_may_be_a_dict(written: dict[str, str] | None, named: dict[str, str], sent: Any) -> None:
    """As a model sends them; Python allows no keyword `from`."""
    tester = ToolTester(travel)

    assert tester.call(written, **named).value == sent
    assert (await tester.acall(written, **named)).value == sent
