"""Locate a tool in another process, by its module and name."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TypedDict

from sidecall.kernel.core.errors import DefinitionError, DiscoveryError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.loading.modules.loading import load_again, load_offering
from sidecall.loading.modules.tool_imports import tool_folders


class Home(TypedDict):
    """A tool's name, and the module and file of its function."""

    name: str
    module: str
    file: str | None


# Lists the tools of a module, or of what stands in one.
ToolsOf = Callable[[object], Iterable[CompiledTool]]


class Finder:
    """Finds tools by their homes, each once."""

    def __init__(self, tools_of: ToolsOf) -> None:
        """Use this function to list the tools of a module."""
        self._tools_of = tools_of
        self._known: dict[tuple[str, str], CompiledTool] = {}

    def find(self, home: Home) -> CompiledTool:
        """Load the module, or else everything that the server loaded for tools, and return the tool with this name.

        Raises:
            DefinitionError: It is not there, or cannot be loaded.
        """
        key = (home["module"], home["name"])
        if key not in self._known:
            self._known[key] = self._look_for(home)
        return self._known[key]

    def knows(self, home: Home) -> bool:
        """Return whether it was found before."""
        return (home["module"], home["name"]) in self._known

    def explain_loss(self, home: Home) -> str | None:
        """Return why a tool is not found; None if it is."""
        try:
            self.find(home)
        except DefinitionError as error:
            return error.message
        return None

    def _look_for(self, home: Home) -> CompiledTool:
        reasons = []
        for load in _candidates(home):
            try:
                tool = next((tool for tool in self._tools_of(load()) if tool.name == home["name"]), None)
            except DefinitionError as error:
                reasons.append(f" ({error.message})")
                continue
            if tool is not None:
                return tool
        text = f"neither the module {home['module']} nor any of the server's places offers a tool of this name"
        raise DiscoveryError(text + "".join(reasons))


def _candidates(home: Home) -> Iterator[Callable[[], object]]:
    if home["file"] is not None:
        yield partial(load_again, home["module"], Path(home["file"]))
    for written in tool_folders().offering:
        yield partial(load_offering, written)
