"""An executor that is made late answers as if it had been there from the start."""

from collections.abc import Iterable
from typing import Any

from sidecall import tool
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.table import LateExecutor


@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


class _Noting:
    """Notes what it is asked."""

    occupancy = Occupancy(size=3, busy=1)

    def __init__(self, heard: list[str]) -> None:
        self._heard = heard
        heard.append("made")

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        self._heard.append(f"start {[it.name for it in tools]}")

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        self._heard.append(f"follow {[it.name for it in tools]}")

    async def run(self, invocation: Invocation) -> Any:
        self._heard.append("run")
        return invocation

    async def close(self) -> None:
        self._heard.append("close")


def _make(heard: list[str]) -> LateExecutor:
    return LateExecutor(3, f"{__name__}:{_Noting.__name__}", heard)


async def test_one_without_tools_is_never_made() -> None:
    """No matter what is asked of it, but to run something."""
    heard: list[str] = []
    late = _make(heard)

    await late.start([])
    late.follow([])
    occupancy = late.occupancy
    await late.close()

    assert (heard, occupancy, late.made) == ([], Occupancy(size=3), None)


async def test_one_is_made_for_its_first_tool() -> None:
    """And asked everything from then on."""
    heard: list[str] = []
    late = _make(heard)

    await late.start([double.compiled])
    late.follow([])
    occupancy = late.occupancy
    await late.close()

    assert heard == ["made", "start ['double']", "follow []", "close"]
    assert occupancy == Occupancy(size=3, busy=1)


async def test_one_is_made_for_a_tool_that_was_loaded_later_or_is_only_called() -> None:
    """As where tools are loaded again, or where nobody has started anything."""
    followed: list[str] = []
    called: list[str] = []
    invocation: Any = object()

    _make(followed).follow([double.compiled])
    answer = await _make(called).run(invocation)

    assert (followed, called) == (["made", "follow ['double']"], ["made", "run"])
    assert answer is invocation
