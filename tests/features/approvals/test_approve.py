"""A call that a person has to approve stops before it does anything."""

import asyncio
import functools
import logging
from typing import Annotated, Any

import pytest

from sidecall import (
    InjectedToolArg,
    StructuredTool,
    ToolContext,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    tool,
)
from sidecall.features.approvals.steps import wants_approval
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

RAN = "deleted 7"


def _deleting(**options: Any) -> StructuredTool:
    @tool(**options)
    def delete(order: int, token: Annotated[str, InjectedToolArg] = "secret") -> str:
        """Delete an order."""
        return f"deleted {order}"

    return delete


async def _run(offered: StructuredTool, order: Any = 7, **beside: Any) -> str:
    call = {"type": "tool_call", "name": "delete", "args": {"order": order}, "id": "call_1"}
    return str((await offered.ainvoke(call, **beside)).content)


def broken(args: Any) -> bool:
    """Crash while it is asked."""
    raise RuntimeError("policy is broken")


async def broken_later(args: Any) -> bool:
    """Crash asynchronously."""
    raise RuntimeError("policy is broken")


async def yes(args: Any) -> bool:
    """Ask a person, asynchronously."""
    return True


async def no(args: Any) -> bool:
    """Ask nobody, asynchronously."""
    return False


class Policy:
    """Decide by being called."""

    async def __call__(self, context: ToolContext, args: Any, call_id: str) -> bool:
        """Ask nobody about this call."""
        return (context.tool_call_id, args) != (call_id, {"order": 7})


ASKING: list[Any] = [
    pytest.param(True, id="always"),
    pytest.param(lambda _: True, id="True"),
    pytest.param(yes, id="async True"),
    # only False is leave to go on
    pytest.param(lambda _: None, id="None"),
    pytest.param(lambda _: 0, id="zero"),
    pytest.param(lambda _: "", id="empty text"),
    pytest.param(lambda _: "no", id="text"),
    pytest.param(broken, id="crash"),
    pytest.param(broken_later, id="async crash"),
    pytest.param(lambda _: {}["missing"], id="another crash"),
    pytest.param(lambda _, __, call_id: call_id == "call_1", id="by the call's id"),
    pytest.param(lambda args: args["order"] == 7, id="by the validated arguments"),
]


@pytest.mark.parametrize("policy", ASKING)
async def test_a_call_waits_for_a_person(policy: Any) -> None:
    """No matter what the policy says, unless it is exactly False."""
    with pytest.raises(ApprovalRequired) as caught:
        await _run(_deleting(requires_approval=policy), order="7")

    assert caught.value.approval.status == "pending"
    assert caught.value.approval.tool_call.args == {"order": "7"}


FREE: list[Any] = [
    pytest.param(False, id="never"),
    pytest.param(lambda _: False, id="False"),
    pytest.param(no, id="async False"),
    pytest.param(Policy(), id="object"),
    pytest.param(functools.partial(lambda limit, args: args["order"] > limit, 7), id="partial"),
    pytest.param(lambda args, limit=7: args["order"] > limit, id="function with a default"),
    pytest.param(lambda *args: len(args) != 1, id="function of anything"),
]


@pytest.mark.parametrize("policy", FREE)
async def test_a_call_that_needs_no_approval_runs(policy: Any) -> None:
    """Nobody is asked."""
    assert await _run(_deleting(requires_approval=policy)) == RAN


@pytest.mark.parametrize("policy", [True, broken])
async def test_an_approved_call_runs_without_asking(policy: Any) -> None:
    """The policy has nothing to say any more."""
    assert await _run(_deleting(requires_approval=policy), approved=True) == RAN


async def test_plain_arguments_have_to_be_approved_too() -> None:
    """In process there is nobody else to ask than the caller."""
    delete = _deleting(requires_approval=True)

    with pytest.raises(ApprovalRequired):
        await delete.ainvoke({"order": 7})
    with pytest.raises(ApprovalRequired):
        delete.invoke({"order": 7})
    assert delete.invoke({"order": 7}, approved=True) == RAN


async def test_a_policy_sees_the_call_but_not_what_is_hidden() -> None:
    """The context, the validated arguments by name, and the call's id."""
    seen: list[Any] = []

    def look(context: ToolContext, args: Any, call_id: str) -> bool:
        seen.extend((context.tool_name, context.state, args, call_id))
        return False

    await _run(_deleting(requires_approval=look), order="7", state={"user": "bo"})

    assert seen == ["delete", {"user": "bo"}, {"order": 7}, "call_1"]


async def test_wrong_arguments_are_the_models_to_mend_before_a_person_is_asked() -> None:
    """The policy would have to guess."""
    assert await _run(_deleting(requires_approval=broken), order="x") == ("order: Input should be an integer")


async def test_guardrails_judge_before_a_person_is_asked() -> None:
    """A person sees no call that would be refused, and those as they were changed."""

    def to_eight(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.replace({"order": 8})

    def refuse(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.reject_content("Never.")

    with pytest.raises(ApprovalRequired) as caught:
        await _run(_deleting(requires_approval=True, tool_input_guardrails=[to_eight]))

    assert caught.value.approval.tool_call.args == {"order": 8}
    assert await _run(_deleting(requires_approval=True, tool_input_guardrails=[refuse])) == "Never."


async def test_a_crash_of_a_policy_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The author would wonder why everything waits."""
    caplog.set_level(logging.ERROR, "sidecall")

    with pytest.raises(ApprovalRequired):
        await _run(_deleting(requires_approval=broken))

    assert caplog.messages == ["the approval policy of tool delete failed (call call_1)"]
    assert "policy is broken" in caplog.text


async def _wait_for_ever(args: Any) -> bool:
    await asyncio.Event().wait()
    return False


async def _wait_for_what_was_cancelled(args: Any) -> bool:
    inner = asyncio.ensure_future(asyncio.Event().wait())
    inner.cancel()
    await inner
    return False


@pytest.mark.parametrize("policy", [_wait_for_ever, _wait_for_what_was_cancelled], ids=["hangs", "was cancelled"])
async def test_a_policy_that_never_answers_asks_a_person(policy: Any) -> None:
    """Nobody may be kept waiting for ever, and nothing may run unasked."""
    async with asyncio.timeout(30):
        with pytest.raises(ApprovalRequired):
            await _run(_deleting(requires_approval=policy, timeout=0.01))


@pytest.mark.parametrize(("policy", "expected"), [(True, True), (broken, True), (False, False)])
def test_tools_without_a_policy_never_come_by(policy: Any, expected: bool) -> None:
    """Their calls lose no time."""
    assert wants_approval(_deleting(requires_approval=policy).compiled) is expected
