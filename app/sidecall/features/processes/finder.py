"""Locate a tool in another process, by its module and name."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
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
        self._listings: dict[str, _Listing] = {}

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
        for place, load in _candidates(home):
            try:
                tool = self._look_into(place, load(), home["name"])
            except DefinitionError as error:
                reasons.append(f" ({error.message})")
                continue
            if tool is not None:
                return tool
        text = f"neither the module {home['module']} nor any of the server's places offers a tool of this name"
        raise DiscoveryError(text + "".join(reasons))

    def _look_into(self, place: str, loaded: object, name: str) -> CompiledTool | None:
        """Return the tool with this name in what was loaded from a place; one may have come since the last look."""
        listing = self._listings.get(place)
        if listing is not None and listing.loaded is loaded:
            with suppress(DefinitionError):  # It is raised anew below.
                if (tool := listing.find(name)) is not None:
                    return tool
        self._listings[place] = listing = _Listing(loaded, self._tools_of(loaded))
        return listing.find(name)


class _Listing:
    """The tools in what was loaded, each made once, and only as far as tools are looked for."""

    def __init__(self, loaded: object, tools: Iterable[CompiledTool]) -> None:
        self.loaded = loaded
        self._left = iter(tools)
        self._found: dict[str, CompiledTool] = {}

    def find(self, name: str) -> CompiledTool | None:
        """Return the first tool with this name.

        Raises:
            DefinitionError: Another one cannot be made, and there is none with this name.
        """
        while name not in self._found and (tool := next(self._left, None)) is not None:
            self._found.setdefault(tool.name, tool)
        return self._found.get(name)


def _candidates(home: Home) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield where a tool may be, and what loads it."""
    if home["file"] is not None:
        yield home["file"], partial(load_again, home["module"], Path(home["file"]))
    for written in tool_folders().offering:
        yield written, partial(load_offering, written)
