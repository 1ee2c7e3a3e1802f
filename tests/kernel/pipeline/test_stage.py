"""A stage is taken by the calls of those tools that need it, and when one fails by way of the others."""

import asyncio
from typing import Any

import pytest

from sidecall import BaseTool, Registry, tool
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Place, Stage, Stages
from tests.kit.calls import write_request


def _named(name: str) -> BaseTool:
    return tool(name, description="Do it.")(lambda: None)


def is_special(offered: CompiledTool) -> bool:
    """Want some tools only."""
    return offered.name == "special"


async def answer(invocation: Invocation) -> None:
    """Answer with what the call went through."""
    invocation.message = ToolMessage(content=",".join(invocation.remarks.repaired))


def noting(name: str) -> Any:
    """Make a step that leaves its name."""

    async def note(invocation: Invocation) -> None:
        invocation.remarks.repaired.append(name)

    return note


async def test_a_step_is_taken_in_its_place_by_the_tools_that_want_it() -> None:
    """One that says nothing is taken by all."""
    stages = (
        Stage(Place.EXECUTE, noting("first")),
        Stage(Place.EXECUTE, noting("second"), is_special),
        Stage(Place.EXECUTE, noting("third")),
        Stage(Place.EXECUTE, answer),
    )
    pipeline = Pipeline(Registry([_named("special"), _named("other")]), Stages(stages))

    special = await pipeline.run(write_request("special", id="1"))
    other = await pipeline.run(write_request("other", id="2"))

    assert special.content == "first,second,third"
    assert other.content == "first,third"


async def test_the_steps_are_chosen_anew_for_a_tool_that_was_replaced() -> None:
    """A reload may change what a tool of this name needs."""

    def has_tags(offered: CompiledTool) -> bool:
        return bool(offered.options.tags)

    registry = Registry([_named("one")])
    stages = Stages(
        (
            Stage(Place.EXECUTE, noting("tagged"), has_tags),
            Stage(Place.EXECUTE, noting("always")),
            Stage(Place.EXECUTE, answer),
        )
    )
    pipeline = Pipeline(registry, stages)
    request = write_request("one", id="1")

    before = await pipeline.run(request)
    registry.replace([tool("one", description="Do it.", tags=["a"])(lambda: None)])
    after = await pipeline.run(request)

    assert (before.content, after.content) == ("always", "tagged,always")


class Way:
    """The stages of one call, of which some fail, and a note of which were taken with which error before them."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, type[BaseException] | None]] = []

    def stage(self, name: str, error: BaseException | None = None, *, answers: bool = False) -> Stage:
        """Make a stage that is noted, and then answers the call or fails."""

        async def run(invocation: Invocation) -> None:
            self.taken.append((name, type(invocation.error) if invocation.error else None))
            if answers:
                invocation.message = ToolMessage(content=name)
            if error is not None:
                raise error

        return Stage(Place.EXECUTE, run)

    async def go(self, success: tuple[Stage, ...], failure: tuple[Stage, ...]) -> ToolMessage:
        """Take a call through them."""
        pipeline = Pipeline(Registry([_named("one")]), Stages(success, failure))
        return await pipeline.run(write_request("one", id="1"))


async def test_a_call_that_succeeds_takes_no_stage_of_failure() -> None:
    """It is answered by then."""
    way = Way()

    message = await way.go((way.stage("a", answers=True), way.stage("b")), (way.stage("c", answers=True),))

    assert (message.content, way.taken) == ("a", [("a", None), ("b", None)])


async def test_a_call_that_fails_goes_on_with_the_stages_of_failure() -> None:
    """All of them, and none that came after the one that failed."""
    way = Way()

    message = await way.go(
        (way.stage("a", ValueError()), way.stage("b", answers=True)),
        (way.stage("c"), way.stage("d", answers=True), way.stage("e")),
    )

    assert message.content == "d"
    assert way.taken == [("a", None), ("c", ValueError), ("d", ValueError), ("e", ValueError)]


async def test_an_error_within_failure_takes_the_place_of_the_first() -> None:
    """The stages after it are taken all the same, and it is raised in the end."""
    way = Way()

    with pytest.raises(KeyError):
        await way.go((way.stage("a", ValueError()),), (way.stage("b", KeyError()), way.stage("c")))

    assert way.taken == [("a", None), ("b", ValueError), ("c", KeyError)]


ERRORS = [ValueError, asyncio.CancelledError, SystemExit]


@pytest.mark.parametrize("error", ERRORS)
async def test_an_error_that_no_stage_answers_is_raised(error: type[BaseException]) -> None:
    """It is the same object, no matter what it is."""
    way = Way()
    raised = error()

    with pytest.raises(error) as caught:
        await way.go((way.stage("a", raised),), (way.stage("b"),))

    assert caught.value is raised


@pytest.mark.parametrize("error", ERRORS)
async def test_what_was_to_be_answered_before_a_stage_failed_is_no_answer(error: type[BaseException]) -> None:
    """Neither before the first failure nor before a later one."""
    way = Way()

    with pytest.raises(error):
        await way.go((way.stage("a", answers=True), way.stage("b", error())), (way.stage("c"),))
    with pytest.raises(error):
        await way.go((way.stage("a", KeyError()),), (way.stage("b", answers=True), way.stage("c", error())))
