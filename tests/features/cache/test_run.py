"""The answer of a read-only tool is given again, and calls that come together share a run."""

import asyncio
import threading
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import BeforeValidator

from sidecall import Cache, ToolException, tool
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.sender import allow_seconds
from tests.features.cache.looking_up import READS, Runs, ask, cache_of, make_look_up, serve

pytestmark = [pytest.mark.virtual_time, pytest.mark.usefixtures("clock")]

NO_CACHE = {"cache-control": "no-cache"}
NO_STORE = {"cache-control": "no-store"}


async def test_an_answer_is_given_again_until_it_expires(runs: Runs) -> None:
    """With its age, and with ids of its own."""
    pipeline = serve(make_look_up(runs))

    first = await ask(pipeline, id="a")
    await asyncio.sleep(30.5)
    again = await ask(pipeline, id="b", args={"word": "tea", "limit": 5})
    await asyncio.sleep(30)
    late = await ask(pipeline, id="c")

    assert [message.content for message in (first, again, late)] == ["tea 5 1", "tea 5 1", "tea 5 2"]
    assert [cache_of(it) for it in (first, again, late)] == [
        {"status": "miss"},
        {"status": "hit", "age": 30},
        {"status": "miss"},
    ]
    assert [message.tool_call_id for message in (first, again, late)] == ["a", "b", "c"]
    assert len({message.id for message in (first, again, late)}) == 3


async def test_other_arguments_are_another_call(runs: Runs) -> None:
    """And those that do not fit are answered as ever."""
    pipeline = serve(make_look_up(runs))

    said = [(await ask(pipeline, args=args)).content for args in ({"word": "tea"}, {"word": "tea", "limit": 6})]

    assert said == ["tea 5 1", "tea 6 2"]
    assert (await ask(pipeline, args={"limit": 6})).status == "error"
    assert runs.count == 2


async def test_calls_that_come_together_share_a_run(runs: Runs) -> None:
    """Also those that come while it runs; each has its own id."""
    pipeline = serve(make_look_up(runs))
    sent = [asyncio.create_task(ask(pipeline, id=f"c{number}")) for number in range(10)]
    await asyncio.sleep(0.5)
    sent.append(asyncio.create_task(ask(pipeline, id="c10")))

    answers = await asyncio.gather(*sent)

    assert runs.count == 1
    assert [message.tool_call_id for message in answers] == [f"c{number}" for number in range(11)]
    assert [cache_of(message)["status"] for message in answers] == ["miss"] + ["shared"] * 10


async def test_one_that_hangs_up_cancels_none_of_the_others(runs: Runs) -> None:
    """Not even the first; when the last has gone the tool is cancelled."""
    pipeline = serve(make_look_up(runs))
    first, second = (asyncio.create_task(ask(pipeline)) for _ in range(2))
    await asyncio.sleep(0.5)
    first.cancel()

    assert (await second).content == "tea 5 1"
    assert (runs.count, runs.ended) == (1, 1)

    alone = asyncio.create_task(ask(pipeline, args={"word": "rum"}))
    await asyncio.sleep(0.5)
    alone.cancel()
    await asyncio.sleep(10)

    assert (runs.count, runs.ended) == (2, 1)
    assert (await ask(pipeline, args={"word": "rum"})).content == "rum 5 3"


async def test_each_waits_until_its_own_deadline(runs: Runs) -> None:
    """The first one's is no other's."""
    pipeline = serve(make_look_up(runs))
    hurried = asyncio.create_task(ask(pipeline, deadline=allow_seconds(0.25)))
    patient = asyncio.create_task(ask(pipeline))

    message = await hurried

    assert message.content == "Error: look_up timed out after 0.25 seconds."
    assert (await patient).content == "tea 5 1"


async def test_the_tools_own_deadline_holds_for_all(runs: Runs) -> None:
    """A run that never ends is ended."""
    pipeline = serve(make_look_up(runs, timeout=0.5))
    first = asyncio.create_task(ask(pipeline))
    await asyncio.sleep(0.25)
    second = asyncio.create_task(ask(pipeline))

    kinds = [message.response_metadata["error"]["kind"] for message in await asyncio.gather(first, second)]

    assert kinds == ["timeout", "timeout"]
    assert (runs.count, runs.ended) == (1, 0)


async def test_failures_are_shared_and_not_kept() -> None:
    """Each names its own call."""
    count = 0

    @tool(cache=Cache(ttl=60), annotations=READS)
    async def fail(how: str) -> str:
        """Fail."""
        nonlocal count
        count += 1
        await asyncio.sleep(1)
        raise ToolException("no") if how == "known" else ValueError("no")

    pipeline = serve(fail)
    for how in ("known", "unknown"):
        both = await asyncio.gather(*(ask(pipeline, "fail", {"how": how}, id=it) for it in ("a", "b")))
        assert [message.tool_call_id for message in both] == ["a", "b"]
        assert [message.status for message in both] == ["error", "error"]
        assert [cache_of(message) for message in both] == [None, None]
    assert "(call b)" in str(both[1].content)
    assert count == 2

    await ask(pipeline, "fail", {"how": "known"})

    assert count == 3


async def test_an_answer_that_says_it_failed_is_not_kept() -> None:
    """Though the tool has returned it."""
    count = 0

    @tool(cache=Cache(ttl=60), annotations=READS)
    async def answer() -> ToolMessage:
        """Answer."""
        nonlocal count
        count += 1
        return ToolMessage("no luck", status="error")

    pipeline = serve(answer)

    assert [(await ask(pipeline, "answer", {})).status for _ in range(2)] == ["error", "error"]
    assert count == 2


async def test_no_cache_runs_the_tool_and_refreshes(runs: Runs) -> None:
    """It joins no run that has begun before; those who come later join it."""
    pipeline = serve(make_look_up(runs))
    await ask(pipeline)

    old = await ask(pipeline, headers=NO_CACHE)
    assert [old.content, (await ask(pipeline)).content] == ["tea 5 2", "tea 5 2"]

    begun = [asyncio.create_task(ask(pipeline, args={"word": "rum"})) for _ in range(2)]
    await asyncio.sleep(0.5)
    begun += [asyncio.create_task(ask(pipeline, args={"word": "rum"}, headers=them)) for them in (NO_CACHE, {})]

    assert [message.content for message in await asyncio.gather(*begun)] == ["rum 5 3"] * 2 + ["rum 5 4"] * 2


async def test_no_store_neither_takes_nor_keeps(runs: Runs) -> None:
    """It shares no run either."""
    pipeline = serve(make_look_up(runs))

    both = await asyncio.gather(ask(pipeline, headers=NO_STORE), ask(pipeline, headers=NO_STORE))
    after = await ask(pipeline)

    assert [message.content for message in (*both, after)] == ["tea 5 1", "tea 5 2", "tea 5 3"]
    assert (await ask(pipeline, headers=NO_STORE)).content == "tea 5 4"
    assert (await ask(pipeline)).content == "tea 5 3"


async def test_max_age_bounds_what_is_taken(runs: Runs) -> None:
    """Seconds, as the client says."""
    pipeline = serve(make_look_up(runs))
    await ask(pipeline)
    await asyncio.sleep(10)

    said = [(await ask(pipeline, headers={"cache-control": f"max-age={age}"})).content for age in (20, 5)]

    assert said == ["tea 5 1", "tea 5 2"]


class LatencyProbe:
    """Note in which thread it is written."""

    threads: ClassVar[list[int]] = []

    def __reduce__(self) -> tuple[type["LatencyProbe"], tuple[()]]:
        """Be made anew."""
        self.threads.append(threading.get_ident())
        return (LatencyProbe, ())


@pytest.mark.parametrize(("count", "is_here"), [(3, True), (49_000, False)], ids=["few", "many"])
async def test_the_key_of_many_values_is_made_beside_the_event_loop(*, count: int, is_here: bool) -> None:
    """It takes a tenth of a second for what a call may hold."""

    @tool(cache=Cache(ttl=60), annotations=READS)
    async def weigh(values: list[int], by: Annotated[Any, BeforeValidator(lambda _: LatencyProbe())]) -> int:
        """Weigh values."""
        return len(values)

    pipeline = serve(weigh)
    LatencyProbe.threads.clear()

    said = [(await ask(pipeline, "weigh", {"values": [1] * count, "by": 1})).content for _ in range(2)]

    assert said == [str(count)] * 2
    assert {thread == threading.get_ident() for thread in LatencyProbe.threads} == {is_here}
