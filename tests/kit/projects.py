"""Projects of files that tests write, and the tools that are found there."""

from collections.abc import Iterable
from pathlib import Path

from sidecall.kernel.core.tool import CompiledTool

# A module with a toolkit of two tools.
KIT = '''
from sidecall import BaseTool, BaseToolkit, tool


class Kit(BaseToolkit):
    """Offer two."""

    def get_tools(self) -> list[BaseTool]:
        """Make them anew."""

        @tool
        def left() -> str:
            """Answer."""
            return "left"

        @tool
        def right() -> str:
            """Answer."""
            return "right"

        return [left, right]


kit = Kit()
'''


def write(path: str | Path, text: str = "") -> Path:
    """Write a file, and the folders above it."""
    file = Path(path).resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def tool_file(*names: str) -> str:
    """Write a module with a tool of each name."""
    tools = [f'@tool\ndef {name}() -> str:\n    """Answer."""\n    return "{name}"\n' for name in names]
    return "\n\n".join(["from sidecall import tool", *tools])


def names(tools: Iterable[CompiledTool]) -> list[str]:
    """Name tools in order."""
    return [tool.name for tool in tools]
