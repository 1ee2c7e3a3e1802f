"""Which tools run on the workers of which queue."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from sidecall.kernel.core.errors import InvalidToolOption, SidecallError
from sidecall.kernel.core.tool import CompiledTool

_TAG = "tag:"


class FleetUnusable(SidecallError):
    """The settings name a fleet, and what it needs is not there."""


class Placement:
    """Says where tools run: by the operator's rules, else by their own option `queue`."""

    def __init__(self, rules: Iterable[str]) -> None:
        """Take rules such as `gpu=tag:vision` and `cpu=crunch*`; the first that fits a tool counts."""
        self._rules: Sequence[tuple[str, str]] = [
            (queue, wanted) for queue, _, wanted in (it.partition("=") for it in rules)
        ]

    def find_queue(self, tool: CompiledTool) -> str | None:
        """Return the queue of a tool; None if it runs in this process."""
        if tool.declaration is not None or tool.is_own:
            return None
        return next((queue for queue, wanted in self._rules if _fits(tool, wanted)), tool.options.queue)

    def list_placed(self, tools: Iterable[CompiledTool]) -> list[str]:
        """List the names of those that have a queue."""
        return [tool.name for tool in tools if self.find_queue(tool) is not None]

    def place(self, tool: CompiledTool, available: Collection[str] = ()) -> CompiledTool:
        """Return the tool as it is served with a fleet; `available` are the names of those that have a worker.

        Raises:
            InvalidToolOption: Workers cannot run it.
        """
        queue = self.find_queue(tool)
        if queue is None:
            return tool
        if any(injection.source == "workspace" for injection in tool.injections):
            raise InvalidToolOption(
                f"{tool.source}: tool {tool.name!r} cannot run on the workers of {queue!r}: it works on the files of "
                "the conversation, which are on this machine. Take it out of SIDECALL_PLACEMENT, and leave out `queue`."
            )
        options = replace(tool.options, queue=queue)
        return replace(tool, executor="fleet", options=options, is_available=tool.name in available)


def _fits(tool: CompiledTool, wanted: str) -> bool:
    if wanted.startswith(_TAG):
        return wanted.removeprefix(_TAG) in tool.options.tags
    return fnmatchcase(tool.name, wanted)
