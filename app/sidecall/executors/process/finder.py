"""Find a tool again in another process, by where it stands and what it is called."""

import importlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from sidecall.core.errors import DefinitionError, DiscoveryError
from sidecall.core.tool import CompiledTool


class Home(TypedDict):
    """A tool's name, and the module and file in which its function stands."""

    name: str
    module: str
    file: str | None


class Discover(Protocol):
    """Load the tools of some places: names of modules, and paths."""

    def __call__(self, places: Iterable[str], *, use_entry_points: bool) -> Iterable[CompiledTool]:
        """Return them.

        Raises:
            DefinitionError: They cannot be loaded.
        """


@dataclass(frozen=True, slots=True)
class ToolSearch:
    """How a process looks for tools.

    `discover` names a Discover as `module:function`, since a function cannot be sent. `places` are tried for what is
    not offered by the module in which its function stands, and those of installed packages if `use_entry_points`.
    """

    discover: str = "sidecall.executors.process.modules:discover_in_modules"
    places: tuple[str, ...] = ()
    use_entry_points: bool = False


# All that can be done without a server.
IN_MODULES = ToolSearch()


def load_discover(name: str) -> Discover:
    """Import what `module:function` names."""
    module, _, function = name.partition(":")
    discover: Discover = getattr(importlib.import_module(module), function)
    return discover


class Finder:
    """Find tools by their homes, each once."""

    def __init__(self, discover: Discover, places: Iterable[str] = (), *, use_entry_points: bool = False) -> None:
        """Look in these places, too, for what is not offered by the module in which its function stands."""
        self._discover = discover
        self._places = tuple(places)
        self._use_entry_points = use_entry_points
        self._known: dict[tuple[str, str], CompiledTool] = {}

    def find(self, home: Home) -> CompiledTool:
        """Load the module, or else the places, and return the tool of this name.

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
        """Return why a tool is not found; None when it is."""
        try:
            self.find(home)
        except DefinitionError as error:
            return error.message
        return None

    def _look_for(self, home: Home) -> CompiledTool:
        reasons = []
        for places, use_entry_points in self._candidates(home):
            try:
                found = self._discover(places, use_entry_points=use_entry_points)
            except DefinitionError as error:
                reasons.append(f" ({error.message})")
                continue
            tool = next((tool for tool in found if tool.name == home["name"]), None)
            if tool is not None:
                return tool
        text = f"neither the module {home['module']} nor any of the server's places offers a tool of this name"
        raise DiscoveryError(text + "".join(reasons))

    def _candidates(self, home: Home) -> Iterator[tuple[tuple[str, ...], bool]]:
        module: Any = sys.modules.get(home["module"])
        if home["file"] is not None:
            # Where it is loaded already, it may be under a name that its file does not tell.
            is_loaded = getattr(module, "__file__", None) == home["file"] and not hasattr(module, "__path__")
            yield ((home["module"] if is_loaded else home["file"],), False)
        yield self._places, self._use_entry_points
