"""Calls are told apart by all that their tool gets, and answers by all that they hold."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import pytest

from sidecall import Cache, Command, InjectedState, InjectedToolArg, Retry, Secret, tool
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolMessage
from tests.features.cache.looking_up import READS, Runs, ask, cache_of, make_look_up, serve

pytestmark = [pytest.mark.virtual_time, pytest.mark.usefixtures("clock")]

ANN, BOB, FAR = Caller("ann"), Caller("bob"), Caller("ann", tenant="far")


@pytest.mark.parametrize(("per_caller", "count"), [(True, 3), (False, 2)])
async def test_callers_have_answers_of_their_own_unless_they_share(runs: Runs, per_caller: bool, count: int) -> None:
    """Never two tenants."""
    pipeline = serve(make_look_up(runs, cache=Cache(ttl=60, per_caller=per_caller)))

    for caller in (ANN, BOB, FAR, ANN):
        await ask(pipeline, caller=caller)

    assert runs.count == count


async def test_what_is_injected_tells_calls_apart() -> None:
    """State, context and secrets; of state and context only what the tool takes."""
    count = 0

    @tool(cache=Cache(ttl=60), annotations=READS)
    async def greet(
        user: Annotated[dict[str, str], InjectedState("user")],
        place: Annotated[str, InjectedToolArg],
        token: Annotated[str, Secret("PATH")],
    ) -> str:
        """Greet."""
        nonlocal count
        count += 1
        return f"{user['name']} in {place}" if token else ""

    pipeline = serve(greet)

    async def say(name: str, place: str, **other: Any) -> Any:
        beside: Mapping[str, Any] = {"state": {"user": {"name": name}, **other}, "context": {"place": place, **other}}
        return (await ask(pipeline, "greet", {}, **beside)).content

    assert [await say("Ann", "Rome"), await say("Bob", "Rome"), await say("Ann", "Bonn")] == [
        "Ann in Rome",
        "Bob in Rome",
        "Ann in Bonn",
    ]
    assert (await say("Ann", "Rome", turn=7), count) == ("Ann in Rome", 3)


async def test_artifacts_and_parts_of_contents_are_given_again() -> None:
    """As values that nobody else has a hand on."""

    @tool(cache=Cache(ttl=60), annotations=READS, response_format="content_and_artifact")
    async def draw() -> tuple[list[dict[str, str]], dict[str, list[int]]]:
        """Draw."""
        return [{"type": "text", "text": "a line"}], {"points": [1, 2]}

    pipeline = serve(draw)
    first = await ask(pipeline, "draw", {})
    first.artifact["points"].clear()
    first.content.clear()  # type: ignore[union-attr]

    again = await ask(pipeline, "draw", {})

    assert (again.content, again.artifact) == ([{"type": "text", "text": "a line"}], {"points": [1, 2]})


async def test_commands_are_each_calls_own() -> None:
    """They are about the state of one caller, and name its call."""
    count = 0

    @tool(cache=Cache(ttl=60), annotations=READS)
    async def move() -> Command:
        """Move."""
        nonlocal count
        count += 1
        await asyncio.sleep(1)
        return Command(update={"step": count, "messages": [ToolMessage("moved")]})

    pipeline = serve(move)

    both = await asyncio.gather(ask(pipeline, "move", {}, id="a"), ask(pipeline, "move", {}, id="b"))

    assert [message.response_metadata["state_update"]["step"] for message in both] == [1, 2]
    assert [message.tool_call_id for message in both] == ["a", "b"]
    assert [cache_of(message) for message in both] == [{"status": "miss"}, {"status": "miss"}]


async def test_parts_are_heard_by_all_who_wait() -> None:
    """Each under the id of its call."""

    @tool(cache=Cache(ttl=60), annotations=READS)
    async def recite() -> Any:
        """Recite."""
        for line in ("one", "two"):
            await asyncio.sleep(1)
            yield line

    heard: list[Any] = []
    pipeline = serve(recite)

    def listen(kind: str, call_id: str, said: Mapping[str, Any]) -> None:
        heard.append((kind, call_id, said["content"]))

    await asyncio.gather(*(ask(pipeline, "recite", {}, id=it, listener=listen) for it in ("a", "b")))

    assert heard == [("partial", it, line) for line in ("one", "two") for it in ("a", "b")]


async def test_retries_stay_within_a_run() -> None:
    """Who shares it is told how many attempts it took; who comes later is not."""
    count = 0

    @tool(cache=Cache(ttl=60), annotations=READS, retry=Retry(wait=0, max_wait=0))
    async def flicker() -> str:
        """Fail once."""
        nonlocal count
        count += 1
        await asyncio.sleep(0.1)
        if count == 1:
            raise OSError
        return "here"

    pipeline = serve(flicker)
    both = await asyncio.gather(*(ask(pipeline, "flicker", {}) for _ in range(2)))

    assert [message.response_metadata.get("attempts") for message in both] == [2, 2]
    assert (await ask(pipeline, "flicker", {})).response_metadata.get("attempts") is None


async def test_arguments_that_cannot_be_compared_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    """The tool runs each time."""
    count = 0

    class Odd:
        def __reduce_ex__(self, _: object) -> Any:
            raise TypeError("cannot pickle it")

    @tool(cache=Cache(ttl=60), annotations=READS)
    async def take(word: str, odd: Annotated[Any, InjectedState]) -> str:
        """Take."""
        nonlocal count
        count += 1
        return f"{word}{bool(odd)}"

    pipeline = serve(take)
    for _ in range(2):
        message = await ask(pipeline, "take", {"word": "a"}, state=Odd())

    assert (message.content, count, cache_of(message)) == ("aTrue", 2, {"status": "miss"})
    assert [record.message for record in caplog.records] == [
        "answers of take are not kept: its arguments cannot be compared: TypeError('cannot pickle it')"
    ]


async def test_a_pipeline_without_a_server_runs_each_call(runs: Runs) -> None:
    """As `ainvoke` in a test does."""
    offered = make_look_up(runs)

    assert [await offered.ainvoke({"word": "tea"}) for _ in range(2)] == ["tea 5 1", "tea 5 2"]
