"""The tools that this server offers, by name."""

import difflib
from collections.abc import Iterable, Iterator

from app.core.errors import ToolAlreadyRegistered
from app.core.tool import Compilable, CompiledTool


class Registry:
    """Hold tools in the order they were registered.

    Readers always see one complete set: `replace` swaps it in a single assignment, and `version` says which it is.
    """

    def __init__(self, tools: Iterable[CompiledTool | Compilable] = ()) -> None:
        self.version = 0
        self._tools: dict[str, CompiledTool] = {}
        self.replace(tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[CompiledTool]:
        return iter(self._tools.values())

    @property
    def names(self) -> list[str]:
        """The names in order."""
        return list(self._tools)

    def get(self, name: str) -> CompiledTool | None:
        """Find a tool by its exact name."""
        return self._tools.get(name)

    def nearest(self, name: str) -> list[str]:
        """Name up to three tools whose names look like this one, best first."""
        # Bounded, since the name comes from outside and the comparison is quadratic in its length.
        return difflib.get_close_matches(name[:64], self._tools, n=3, cutoff=0.6)

    def add(self, *tools: CompiledTool | Compilable) -> None:
        """Offer more tools, after the present ones.

        Raises:
            DefinitionError: One of them cannot be offered; nothing is changed then.
        """
        self.replace([*self, *tools])

    def replace(self, tools: Iterable[CompiledTool | Compilable]) -> None:
        """Offer these tools instead of the present ones.

        Raises:
            ToolAlreadyRegistered: Two of them have the same name; nothing is changed then.
        """
        fresh: dict[str, CompiledTool] = {}
        for offered in tools:
            tool = offered if isinstance(offered, CompiledTool) else offered.compiled
            other = fresh.setdefault(tool.name, tool)
            if other is not tool:
                raise ToolAlreadyRegistered(
                    f"Two tools are called {tool.name!r}: {other.source} and {tool.source}. "
                    f"Give one another name, for instance @tool('{tool.name[:62]}_2')."
                )
        self._tools = fresh
        self.version += 1
