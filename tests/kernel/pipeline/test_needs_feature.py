"""A pipeline without features refuses what would need one, instead of running it without."""

from typing import Annotated

import pytest

from sidecall import BaseTool, Cache, Registry, Secret, ToolCall, tool
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import kernel_stages

RAN: list[str] = []


@tool(requires_approval=True)
async def pay() -> str:
    """Pay."""
    RAN.append("pay")
    return "paid"


@tool(cache=Cache(ttl=1), annotations={"read_only": True})
async def look() -> str:
    """Look."""
    RAN.append("look")
    return "seen"


@tool
async def log_in(key: Annotated[str, Secret("PATH")]) -> str:
    """Log in."""
    RAN.append("log_in")
    return key


@tool
async def wait() -> str:
    """Wait."""
    RAN.append("wait")
    return "waited"


@pytest.mark.parametrize(
    ("offered", "status", "ran"),
    [(pay, "error", []), (look, "error", []), (log_in, "error", []), (wait, "success", ["wait"])],
    ids=lambda it: getattr(it, "name", None),
)
async def test_a_tool_that_needs_a_feature_does_not_run(offered: BaseTool, status: str, ran: list[str]) -> None:
    """Though its author asked for more than that; the log says what it needs."""
    RAN.clear()
    pipeline = Pipeline(Registry([offered]), kernel_stages(Execute({"inline": InlineExecutor()})))

    message = await pipeline.run(CallRequest(ToolCall(name=offered.name, args={}, id="call_1")))

    assert (message.status, RAN) == (status, ran)
    if status == "error":
        assert message.response_metadata["error"]["kind"] == "not_configured"
