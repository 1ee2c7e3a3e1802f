"""Every door leads through the same stages."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from sidecall import InjectedState, Registry, ToolGuardrailFunctionOutput, ToolMessage, tool
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.kernel.core.errors import MissingContext
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from sidecall.kernel.pipeline.pipeline import Pipeline
from tests.kit.calls import write_request


@tool
async def search_web(query: str) -> str:
    """Search."""
    return query.upper()


@tool
async def greet(user: Annotated[str, InjectedState("user")]) -> str:
    """Greet."""
    return f"Hi {user}"


@tool
async def wait() -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


@pytest.fixture
async def pipeline() -> AsyncIterator[Pipeline]:
    """Give a pipeline over three tools."""
    threads = ThreadExecutor(1)
    registry = Registry([search_web.compiled, greet.compiled, wait.compiled])
    approvals = MemoryApprovals()
    yield Pipeline(registry, default_stages({"inline": InlineExecutor(), "thread": threads}, approvals), 0.01)
    await threads.close()


def _request(name: str, id: str = "call_1", state: object = None, **args: object) -> CallRequest:
    return write_request(name, args, id=id, state=state)


async def test_a_call_finds_its_tool_by_name(pipeline: Pipeline) -> None:
    """And is answered under its own id."""
    message = await pipeline.run(_request("search_web", query="a"))

    assert (message.content, message.name, message.tool_call_id) == ("A", "search_web", "call_1")


async def test_a_model_is_asked_about_no_tool_that_does_something_else(pipeline: Pipeline) -> None:
    """A name that only begins like another is told to programs alone: `browser_scroll` is not meant to press keys."""
    message = await pipeline.run(_request("search_internet"))

    assert message.content == "Error: search_internet is not a valid tool, try one of [search_web, greet, wait]."
    assert message.response_metadata["error"]["nearest"] == ["search_web"]


@pytest.mark.parametrize("name", ["str_replace_editor", "text_editor"])
async def test_an_earlier_name_leads_to_the_present_one(name: str) -> None:
    """Not to another tool that resembles it."""

    def edit() -> str:
        """Edit."""
        return ""

    registry = Registry([tool(edit), tool("str_replace_based_edit_tool")(edit)])
    stages = default_stages({"inline": InlineExecutor()}, MemoryApprovals())
    message = await Pipeline(registry, stages, 0.01).run(_request(name))

    assert str(message.content).endswith(" Did you mean str_replace_based_edit_tool?")
    assert message.response_metadata["error"]["nearest"][0] == "str_replace_based_edit_tool"


async def test_a_name_that_does_not_exist_is_told_to_the_model(pipeline: Pipeline) -> None:
    """With all names, and apart from them those that look like it."""
    message = await pipeline.run(_request("serch_web"))
    text = "Error: serch_web is not a valid tool, try one of [search_web, greet, wait]. Did you mean search_web?"

    assert (message.content, message.status, message.name) == (text, "error", "serch_web")
    assert message.response_metadata == {
        "duration_ms": 0.0,
        "return_direct": False,
        "ignored_args": [],
        "repaired": [],
        "error": {
            "kind": "unknown_tool",
            "message": text,
            "retryable": False,
            "errors": [],
            "nearest": ["search_web"],
            "retry_after_ms": None,
        },
    }


async def test_the_servers_timeout_holds_for_tools_without_their_own(pipeline: Pipeline) -> None:
    """Nothing waits for ever by default."""
    message = await pipeline.run(_request("wait"))

    assert message.content == "Error: wait timed out after 0.01 seconds."


async def test_what_the_caller_owes_goes_to_the_caller(pipeline: Pipeline) -> None:
    """A single call has one place to say it."""
    with pytest.raises(MissingContext):
        await pipeline.run(_request("greet"))


class Steps(list[str]):
    """Stand around a tool and write down when it is whose turn."""

    def on_tool_start(self, serialized: dict[str, str], input_str: str) -> None:
        """Hear of the start."""
        self.append(f"start {serialized['name']} {input_str}")

    def on_tool_end(self, output: ToolMessage) -> None:
        """Hear of the end."""
        self.append(f"end {output.content}")

    def before(self, data: Any) -> ToolGuardrailFunctionOutput:
        """Change what goes in."""
        self.append(f"input guardrail {data.args['word']}")
        return ToolGuardrailFunctionOutput.replace({"word": "changed"})

    def after(self, data: Any) -> ToolGuardrailFunctionOutput:
        """Change what comes out."""
        self.append(f"output guardrail {data.output}")
        return ToolGuardrailFunctionOutput.replace("judged")

    def policy(self, args: Any) -> bool:
        """Ask nobody."""
        self.append(f"policy {args['word']}")
        return False


async def test_the_steps_are_taken_in_their_order() -> None:
    """Judged before a handler hears of it, and told at the end what the model will read."""
    steps = Steps()

    @tool(
        callbacks=[steps],
        tool_input_guardrails=[steps.before],
        tool_output_guardrails=[steps.after],
        requires_approval=steps.policy,
    )
    async def work(word: str) -> str:
        """Work."""
        steps.append(f"run {word}")
        return "done"

    await work.ainvoke({"word": "sent"})

    assert steps == [
        "input guardrail sent",
        "policy changed",
        "start work {'word': 'changed'}",
        "run changed",
        "output guardrail done",
        "end judged",
    ]
