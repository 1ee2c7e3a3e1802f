"""The functions around a tool are told the context of the type that they, or the tool, name."""

from dataclasses import dataclass
from typing import Any

import pytest

from sidecall import RunContextWrapper, ToolContext, ToolGuardrailFunctionOutput, function_tool
from sidecall.kernel.ports.approvals.approval import ApprovalRequired


@dataclass
class User:
    """Who asks."""

    name: str
    level: int = 1


@dataclass
class Other:
    """The same, as another function has it."""

    name: str


SEEN: list[Any] = []


def keep(context: ToolContext[Any], *_: Any) -> Any:
    """Keep what is told."""
    SEEN.append(context.context)
    return f"{context.context.name}"


def keep_other(context: RunContextWrapper[Other], *_: Any) -> str:
    """Keep it in another type."""
    SEEN.append(context.context)
    return "other"


def judge(judged: Any) -> ToolGuardrailFunctionOutput:
    """Keep what a guardrail sees."""
    SEEN.append(judged.context.context)
    return ToolGuardrailFunctionOutput.allow()


def typed(context: RunContextWrapper[User], order: int) -> str:
    """Say who asks."""
    raise ValueError(context.context.name)


def untyped(order: int) -> str:
    """Take no context."""
    raise ValueError


TOLD: list[Any] = [
    (typed, keep, User("Ada")),
    (typed, keep_other, Other("Ada")),
    (untyped, keep, {"name": "Ada"}),
    (untyped, keep_other, Other("Ada")),
    (untyped, lambda context, _error: keep(context), {"name": "Ada"}),
]


@pytest.mark.parametrize(("work", "hook", "expected"), TOLD)
async def test_a_hook_is_told_what_it_says_or_else_what_the_tool_says(work: Any, hook: Any, expected: Any) -> None:
    """And where nobody says, the JSON, whose members are attributes too."""
    SEEN.clear()
    it = function_tool(work, failure_error_function=hook)

    message = await it.ainvoke({"type": "tool_call", "args": {"order": 1}}, context={"name": "Ada"})

    assert message.content in ("Ada", "other")
    assert [expected] == SEEN


async def test_all_of_them_are_told() -> None:
    """Policies, switches and guardrails."""
    SEEN.clear()
    options: dict[str, Any] = {"needs_approval": lambda context, _args, _call_id: keep(context)}
    it = function_tool(
        typed, tool_input_guardrails=[judge], is_enabled=lambda context, _agent: keep(context), **options
    )
    call = {"type": "tool_call", "id": "c", "args": {"order": 1}}

    with pytest.raises(ApprovalRequired):
        await it.ainvoke(call, context={"name": "Ada", "level": 3})

    assert SEEN[-2:] == [User("Ada", 3)] * 2


async def test_a_member_that_was_not_sent_is_none_of_an_open_context() -> None:
    """It is a fault of the hook, which does not harm the call; members within are attributes too."""
    it = function_tool(untyped, failure_error_function=lambda context, _error: context.context.user.name)
    call = {"type": "tool_call", "id": "c", "args": {"order": 1}}

    said = [(await it.ainvoke(call, context=sent)).content for sent in ({"user": {"name": "Ada"}}, {})]

    assert said[0] == "Ada"
    assert said[1].startswith("Error: untyped failed unexpectedly")
