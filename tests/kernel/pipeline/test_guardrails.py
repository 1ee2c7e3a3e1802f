"""Guardrails judge what goes into a tool and what comes out of it."""

import asyncio
from typing import Annotated, Any

import pytest

from sidecall import (
    InjectedToolArg,
    StructuredTool,
    ToolException,
    ToolGuardrailFunctionOutput,
    ToolMessage,
    tool,
    tool_input_guardrail,
)
from sidecall.kernel.core.errors import GuardrailTripped
from tests.kit import calls

allow = ToolGuardrailFunctionOutput.allow
reject = ToolGuardrailFunctionOutput.reject_content
trip = ToolGuardrailFunctionOutput.raise_exception
replace = ToolGuardrailFunctionOutput.replace

CANARY = "canary-4711"
UNCHECKED = "Error: this call could not be checked and was not carried out."


class Case:
    """Run one tool between guardrails, and remember what each of them saw."""

    def __init__(self, before: Any = (), after: Any = (), **options: Any) -> None:
        self.seen: list[Any] = []
        self.ran: list[Any] = []
        guards = {"tool_input_guardrails": list(before), "tool_output_guardrails": list(after)}

        @tool("work", **{**guards, **options})
        async def work(items: list[int], token: Annotated[str, InjectedToolArg] = "t", fail: str = "") -> Any:
            """Work."""
            self.ran.append((items, token))
            if fail:
                raise ToolException(fail)
            return {"sum": sum(items)}

        self.tool: StructuredTool = work

    async def run(self, **args: Any) -> ToolMessage:
        """Call the tool."""
        return await calls.run(self.tool, {"items": [1, 2], **args})


def verdicts(message: ToolMessage) -> list[tuple[str, str]]:
    """List who said what."""
    return [(entry["name"], entry["verdict"]) for entry in message.response_metadata.get("guardrails", [])]


def watcher(seen: list[Any], verdict: Any = None) -> Any:
    """Make a guardrail that writes down what it sees."""

    async def watch(data: Any) -> ToolGuardrailFunctionOutput:
        seen.append(getattr(data, "output", data.args))
        return verdict or allow()

    return watch


async def test_guardrails_that_allow_change_nothing_and_are_listed() -> None:
    """What each has to say is for the calling program."""
    named = tool_input_guardrail(name="Size")(lambda data: allow({"items": len(data.args["items"])}))
    case = Case(before=[named], after=[lambda _: allow()])

    message = await case.run()

    assert (message.status, message.content) == ("success", '{"sum": 3}')
    assert message.response_metadata["guardrails"] == [
        {"name": "Size", "verdict": "allow", "output_info": {"items": 2}},
        {"name": "<lambda>", "verdict": "allow", "output_info": None},
    ]


async def test_a_tool_without_guardrails_lists_none() -> None:
    """The metadata stays what it is."""
    message = await Case().run()

    assert "guardrails" not in message.response_metadata


async def test_what_is_judged_is_validated_and_without_what_is_hidden() -> None:
    """The context is the call's; an output is the tool's own object."""
    seen: list[Any] = []
    case = Case(
        before=[lambda data: seen.append((data.args, data.context.tool_call_id)) or allow()],
        after=[lambda data: seen.append((data.args, data.context.tool_name, data.output)) or allow()],
    )

    await case.run(items=["1", 2], token="forged")

    assert seen == [
        ({"items": [1, 2], "fail": ""}, "call_1"),
        ({"items": [1, 2], "fail": ""}, "work", {"sum": 3}),
    ]


async def test_a_rejected_call_does_not_run() -> None:
    """The model reads why; nobody after is asked."""
    later: list[Any] = []
    case = Case(before=[lambda _: reject("Not today.", 1), watcher(later)], after=[watcher(later)])

    message = await case.run()

    assert (message.status, message.content) == ("error", "Not today.")
    assert message.response_metadata["error"]["kind"] == "denied"
    assert message.response_metadata["error"]["retryable"] is False
    assert verdicts(message) == [("<lambda>", "reject_content")]
    assert (case.ran, later) == ([], [])


async def test_a_rejected_output_is_not_shown() -> None:
    """The tool has run, and the model reads the guardrail's words."""
    later: list[Any] = []
    case = Case(after=[lambda _: reject("Too much."), watcher(later)])

    message = await case.run()

    assert (message.status, message.content, message.artifact) == ("error", "Too much.", None)
    assert message.response_metadata["error"]["kind"] == "denied"
    assert (len(case.ran), later) == (1, [])


@pytest.mark.parametrize(("place", "runs", "guards"), [("before", 0, "input"), ("after", 1, "output")])
async def test_a_guardrail_may_refuse_the_request_itself(place: str, runs: int, guards: str) -> None:
    """The calling program is told, not the model."""

    def alarm(data: Any) -> ToolGuardrailFunctionOutput:
        return trip({"rule": 7})

    case = Case(**{place: [alarm]})

    with pytest.raises(GuardrailTripped) as caught:
        await case.run()

    assert caught.value.message == "The guardrail alarm refuses this call of work."
    assert caught.value.members == {
        "call_id": "call_1",
        "guards": guards,
        "name": "alarm",
        "verdict": "raise_exception",
        "output_info": {"rule": 7},
    }
    assert len(case.ran) == runs


async def test_outputs_can_be_replaced() -> None:
    """Each guardrail sees what the one before made of it."""
    seen: list[Any] = []
    case = Case(after=[lambda _: replace({"sum": 0}), watcher(seen), lambda _: replace("nothing")])

    assert (await case.run()).content == "nothing"
    assert seen == [{"sum": 0}]


async def test_of_a_pair_both_parts_are_judged() -> None:
    """What is kept from the model may be wrong too."""
    seen: list[Any] = []

    @tool(response_format="content_and_artifact", tool_output_guardrails=[watcher(seen, replace(("b", [2])))])
    async def work() -> tuple[str, list[int]]:
        """Work."""
        return "a", [1]

    message = await work.ainvoke({"type": "tool_call", "args": {}})

    assert (seen, message.content, message.artifact) == ([("a", [1])], "b", [2])


async def _cancelled(data: Any) -> ToolGuardrailFunctionOutput:
    inner = asyncio.ensure_future(asyncio.Event().wait())
    inner.cancel()
    return await inner  # type: ignore[return-value]


def _raising(error: type[Exception]) -> Any:
    def guard(data: Any) -> ToolGuardrailFunctionOutput:
        raise error(CANARY)

    return guard


CRASHES: list[Any] = [
    pytest.param(_raising(RuntimeError), id="crash"),
    pytest.param(_raising(ToolException), id="error of a tool"),
    pytest.param(_raising(StopIteration), id="StopIteration"),
    pytest.param(_cancelled, id="cancelled"),
    pytest.param(lambda _: None, id="no verdict"),
    pytest.param(lambda _: ToolGuardrailFunctionOutput(behavior={"type": "deny"}), id="unknown verdict"),
    pytest.param(lambda _: allow(object()), id="unsayable note"),
]
UNFIT: list[Any] = [
    pytest.param(lambda _: replace(["items"]), id="not a mapping"),
    pytest.param(lambda _: replace({"items": "x"}), id="wrong arguments"),
]


@pytest.mark.parametrize("guardrail", [*CRASHES, *UNFIT])
async def test_a_call_that_cannot_be_judged_does_not_run(guardrail: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The guardrail may have been about to refuse; the operator learns why."""
    case = Case(before=[guardrail])

    message = await case.run()

    assert (message.content, message.status, case.ran) == (UNCHECKED, "error", [])
    assert message.response_metadata["error"]["kind"] == "denied"
    assert message.response_metadata["guardrails"][-1]["verdict"] == "crashed"
    assert "of tool work failed (call call_1)" in caplog.text


@pytest.mark.parametrize("fail", ["", CANARY], ids=["success", "failure"])
@pytest.mark.parametrize("guardrail", CRASHES)
async def test_an_output_that_cannot_be_judged_is_not_shown(guardrail: Any, fail: str) -> None:
    """Whether the tool succeeded or failed."""
    message = await Case(after=[guardrail]).run(fail=fail)

    assert message.status == "error"
    assert "sum" not in message.content
    assert CANARY not in message.model_dump_json()


async def test_a_model_is_not_told_that_a_tool_did_not_run_when_it_did() -> None:
    """It would call it again."""
    message = await Case(after=[_raising(RuntimeError)]).run()

    assert "not carried out" not in message.content


async def test_a_json_schemas_arguments_are_replaced_with_the_same_care() -> None:
    """Keys that are no texts are the guardrail's mistake there too."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}

    @tool(args_schema=schema, tool_input_guardrails=[lambda _: replace({1: 2})])
    async def work(a: int = 0) -> int:
        """Work."""
        return a

    assert (await work.ainvoke({"type": "tool_call", "args": {}})).content == UNCHECKED
