"""Find tools by name: modules, packages, files, folders, entry points."""

import logging
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from sidecall.kernel.core.errors import DefinitionError, DiscoveryError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.loading.collect import collect_items, compile_items
from sidecall.loading.modules.loading import load_file, load_named, public_files, refuse_exits
from sidecall.loading.modules.tool_imports import tool_folders
from sidecall.loading.skipped_tools import Omission, TakeOmission, find_omissions
from sidecall.loading.toolkits import leave_out, shipped_tools

GROUP = "sidecall.tools"
# The default places: this one of the project, else the shipped tools.
DEFAULT_PLACE = "tools"
# What ships, and before a dot one file of it.
SHIPPED_PLACE = "sidecall"

logger = logging.getLogger("sidecall")


def discover(
    places: Iterable[str], *, use_entry_points: bool = False, tell: TakeOmission | None = None
) -> list[CompiledTool]:
    """Load all tools from the places, in order.

    A place is a path (`./my_tools.py`, `tools`) if one exists, else the dotted name of a module or package. A module
    offers the tools, toolkits and registries that are public or in its `__all__`, and collections that hold only tools,
    including those of LangChain and of the OpenAI Agents SDK. A Registry's tools keep its callbacks and guardrails.

    The place `sidecall` means the shipped tools without toolkits, `sidecall.clock` one file of them; `tools` means them
    too if the working directory has neither `tools` nor `tools.py`. `tell` receives what looks like an offer and is
    none; the default logs a warning.

    Raises:
        DiscoveryError: A place does not exist, or its code raised.
        DefinitionError: A tool cannot be offered.
    """
    with refuse_exits():
        found: dict[int, Any] = {}
        omissions: list[Omission] = []
        for place in places:
            modules = list(_load(resolve_place(place)))
            items = [item for module in modules for item in _ask(module.__name__, module)]
            omissions += (omission for module in modules for omission in find_omissions(module))
            if not items:
                logger.warning("no tools found in %s; a tool is a module-level function with @tool", place)
            found.update((id(item), item) for item in items)
        if use_entry_points:
            loaded = (offer for point in entry_points(group=GROUP) for offer in _load_entry_point(point))
            found.update((id(offer), offer) for offer in loaded)
        tools = compile_items(found.values(), lambda where, text: omissions.append(Omission(where, text)))
        _tell_omissions(omissions, tools, tell or _log_omission)
        return tools


def _tell_omissions(omissions: Iterable[Omission], tools: Iterable[CompiledTool], tell: TakeOmission) -> None:
    """Report what is not offered, except lists of tools that are offered otherwise."""
    names = {tool.name for tool in tools}
    for omission in dict.fromkeys(omissions):
        if not omission.tools or not names.issuperset(omission.tools):
            tell(omission)


def _log_omission(omission: Omission) -> None:
    logger.warning("%s: %s", omission.place, omission.text)


def _ask(name: str, offered: object) -> list[Any]:
    """List what a module or entry point offers; tool processes call the same function."""
    tool_folders().note_offering(name)
    return collect_items(offered)


def watched_folders(places: Iterable[str]) -> list[Path]:
    """List the folders whose files determine what `discover` finds."""
    wanted = [resolve_place(place) for place in places]
    paths = [Path(place).resolve() for place in wanted if Path(place).exists()]
    named = [Path(file).resolve() for place in wanted if not Path(place).exists() for file in _list_files(place)]
    return list(dict.fromkeys(path if path.is_dir() else path.parent for path in (*paths, *named)))


def resolve_place(place: str) -> str:
    """Resolve a place: the default one, and the shipped tools, depend on the working directory."""
    if Path(place).exists():
        return place
    if place == DEFAULT_PLACE:
        file = Path(f"{place}.py")
        return str(file if file.is_file() else shipped_tools())
    package, _, name = place.partition(".")
    shipped = shipped_tools() / f"{name}.py" if name else shipped_tools()
    return str(shipped) if package == SHIPPED_PLACE and shipped.exists() else place


def _list_files(place: str) -> list[str]:
    return [module.__file__ for module in load_named(place) if module.__file__]


def _load(place: str) -> Iterator[ModuleType]:
    path = Path(place)
    if path.is_file():
        yield load_file(path.resolve())
    elif path.is_dir():
        yield from (load_file(file) for file in leave_out(public_files(path.resolve())))
    elif path.suffix == ".py" or "/" in place:
        raise DiscoveryError(f"There is no file or folder {place!r} (looked in {Path.cwd()}).")
    else:
        yield from load_named(place)


def _load_entry_point(point: EntryPoint) -> list[Any]:
    try:
        offered = point.load()
    except DefinitionError:
        raise
    except BaseException as error:
        package = point.dist.name if point.dist else "?"
        text = (
            f"The entry point {point.name!r} of package {package!r} cannot be loaded: {type(error).__name__}: {error}"
        )
        raise DiscoveryError(text) from error
    return _ask(f"{point.module}:{point.attr}" if point.attr else point.module, offered)
