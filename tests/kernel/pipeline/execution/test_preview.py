"""What an author's preview says of a call is asked for with care."""

import asyncio
import threading
from datetime import date
from functools import partial
from typing import Annotated, Any

import pytest

from sidecall import BaseTool, InjectedToolArg, StructuredTool, ToolContext, ToolException, tool
from sidecall.kernel.ports.approvals.approval import ApprovalRequired, Preview
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline

FAILED = Preview(error="The preview failed. The details are in the log.")


def _make(preview: Any, **options: Any) -> StructuredTool:
    @tool("move", preview=preview, **options)
    async def move(
        item: str, when: date, context: ToolContext, shelf: Annotated[str, InjectedToolArg], *, count: int = 1
    ) -> str:
        """Move an item."""
        return "moved"

    return move


async def _dry_run(preview: Any, item: str = "cup") -> Preview:
    request = write_request("move", {"item": item, "when": "2026-11-22"}, context={"shelf": "top"})
    return (await make_pipeline([_make(preview)]).dry_run(request)).preview


async def _wait_for(item: str) -> str:
    await asyncio.sleep(0)
    return f"{item} would be moved"


class _Shelf:
    def look(self, shelf: str) -> str:
        return shelf

    async def __call__(self, **arguments: Any) -> list[str]:
        return sorted(arguments)


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("preview", "shown"),
    [
        (lambda: 1, Preview(1)),
        (lambda item, count: f"{count} {item}", Preview("1 cup")),
        (lambda when: {"day": when.day, "when": when}, Preview({"day": 22, "when": "2026-11-22"})),
        (lambda shelf, context: [shelf, context.tool_call_id], Preview(["top", "call_1"])),
        (lambda item, unknown="own": [item, unknown], Preview(["cup", "own"])),
        (_wait_for, Preview("cup would be moved")),
        (partial(lambda prefix, item: prefix + item, "a "), Preview("a cup")),
        (_Shelf().look, Preview("top")),
        (_Shelf(), Preview(["context", "count", "item", "shelf", "when"])),
        (lambda: None, Preview()),
        (lambda: threading.current_thread() is threading.main_thread(), Preview(False)),
        (lambda: _raise(ToolException("No such item.")), Preview(error="No such item.")),
        (lambda: _raise(ToolException({"a": 1})), Preview(error='{"a": 1}')),
        (lambda: _raise(RuntimeError("secret")), FAILED),
        (lambda: _raise(SystemExit()), FAILED),
        (lambda: _raise(asyncio.CancelledError()), FAILED),
        (lambda: object(), FAILED),
        (lambda: "x" * 16_383, Preview(error="The preview is too long to be shown: 16,385 bytes, of 16,384 at most.")),
    ],
)
async def test_a_preview_takes_arguments_by_name(preview: Any, shown: Preview) -> None:
    """Those of the tool that it names, as the tool would get them; the dry run is answered no matter what it does."""
    assert await _dry_run(preview) == shown


async def test_a_preview_that_hangs_is_left_behind() -> None:
    """No later than the call's deadline."""
    free = threading.Event()
    request = write_request("move", {"item": "a", "when": "2026-11-22"}, context={"shelf": "top"})
    pipeline = make_pipeline([_make(lambda: free.wait(60), timeout=0.05)])

    try:
        assert (await pipeline.dry_run(request)).preview == FAILED
    finally:
        free.set()


async def test_many_previews_run_side_by_side() -> None:
    """Only those that hang count as hanging."""
    gate = threading.Barrier(12, timeout=60)

    shown = await asyncio.gather(*(_dry_run(lambda item: gate.wait() >= 0 and item, str(n)) for n in range(12)))

    assert shown == [Preview(str(number)) for number in range(12)]


class Erase(BaseTool):
    """Erase a name."""

    name: str = "erase"
    requires_approval: bool = True

    def _run(self, name: str) -> str:
        return f"erased {name}"


async def test_a_call_that_waits_in_this_process_has_its_preview() -> None:
    """Also of a tool that is a class, and of a sync one."""
    erase = Erase(preview=lambda name: f"would erase {name}")

    with pytest.raises(ApprovalRequired) as raised:
        await erase.ainvoke({"name": "Ada"})

    assert raised.value.approval.preview == "would erase Ada"


async def test_a_call_that_needs_no_approval_is_not_previewed() -> None:
    """It would cost time, and nobody would see it."""
    asked: list[str] = []
    pipeline = make_pipeline([_make(lambda item: asked.append(item))])

    message = await pipeline.run(write_request("move", {"item": "a", "when": "2026-11-22"}, context={"shelf": "top"}))

    assert (message.content, asked) == ("moved", [])
