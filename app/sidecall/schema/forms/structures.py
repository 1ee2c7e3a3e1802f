"""Keep how the results of each tool become values."""

from sidecall.core.tool import CompiledTool
from sidecall.schema.forms.structured import Structure, make_structure


class Structures:
    """Keep a structure for each tool that has one, until another tool of its name is called."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[CompiledTool, Structure | None]] = {}

    def of(self, tool: CompiledTool) -> Structure | None:
        """Find the structure of a tool's results, or make it; None where they have none."""
        known = self._known.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._known[tool.name] = tool, make_structure(tool)
        return known[1]
