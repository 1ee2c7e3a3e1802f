"""A step of the way is taken by the calls of those tools that need it."""

from typing import Any

from sidecall import BaseTool, Registry, ToolCall, tool
from sidecall.core.invocation import CallRequest, Invocation
from sidecall.core.messages import ToolMessage
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.stage import Stage


def _named(name: str) -> BaseTool:
    return tool(name, description="Do it.")(lambda: None)


def is_special(offered: CompiledTool) -> bool:
    """Want some tools only."""
    return offered.name == "special"


async def answer(invocation: Invocation) -> None:
    """Answer with what the call went through."""
    invocation.message = ToolMessage(content=",".join(invocation.repaired))


def noting(name: str) -> Any:
    """Make a step that leaves its name."""

    async def note(invocation: Invocation) -> None:
        invocation.repaired.append(name)

    return note


async def test_a_step_is_taken_in_its_place_by_the_tools_that_want_it() -> None:
    """One that says nothing is taken by all."""
    stages = [Stage(noting("first")), Stage(noting("second"), is_special), Stage(noting("third")), Stage(answer)]
    pipeline = Pipeline(Registry([_named("special"), _named("other")]), stages)

    special = await pipeline.run(CallRequest(ToolCall(name="special", args={}, id="1")))
    other = await pipeline.run(CallRequest(ToolCall(name="other", args={}, id="2")))

    assert special.content == "first,second,third"
    assert other.content == "first,third"


async def test_the_steps_are_chosen_anew_for_a_tool_that_was_replaced() -> None:
    """A reload may change what a tool of this name needs."""

    def has_tags(offered: CompiledTool) -> bool:
        return bool(offered.options.tags)

    registry = Registry([_named("one")])
    pipeline = Pipeline(registry, [Stage(noting("tagged"), has_tags), Stage(noting("always")), Stage(answer)])
    request = CallRequest(ToolCall(name="one", args={}, id="1"))

    before = await pipeline.run(request)
    registry.replace([tool("one", description="Do it.", tags=["a"])(lambda: None)])
    after = await pipeline.run(request)

    assert (before.content, after.content) == ("always", "tagged,always")
