"""Find tools by name: modules, packages, files, folders, entry points."""

import inspect
import logging
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from sidecall.authoring.decorators import tool
from sidecall.authoring.foreign.adopt import is_foreign_tool, is_foreign_toolkit
from sidecall.authoring.tool import BaseTool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.core.errors import DefinitionError, DiscoveryError
from sidecall.core.tool import CompiledTool
from sidecall.loading import load_file, load_named, public_files
from sidecall.registry import Registry
from sidecall.schema.signature import find_source

GROUP = "sidecall.tools"
# What is served unless somebody says otherwise: this of the project, else what ships.
DEFAULT_PLACE = "tools"
# What ships, and before a dot one file of it.
SHIPPED_PLACE = "sidecall"

logger = logging.getLogger("sidecall")


def discover(places: Iterable[str], *, use_entry_points: bool = False) -> list[CompiledTool]:
    """Load every tool from the places, in order.

    A place is a path (`./my_tools.py`, `tools`) if one exists, else the dotted name of a module or package. Of a
    module those tools, toolkits and registries count that have no leading underscore, or that its `__all__` names;
    tools of LangChain and of the OpenAI Agents SDK too. A Registry's tools keep its callbacks and guardrails. The place
    `sidecall` means the tools that ship, `sidecall.clock` one file of them; `tools` means them too where the working
    directory has neither `tools` nor `tools.py`.

    Raises:
        DiscoveryError: A place does not exist, or its code raised.
        DefinitionError: A tool cannot be offered.
    """
    found: dict[int, Any] = {}
    for place in places:
        offers = [offer for module in _load(_resolve(place)) for offer in _list_offers(module)]
        if not offers:
            logger.warning("no tools found in %s; a tool is a module-level function with @tool", place)
        found.update((id(offer), offer) for offer in offers)
    if use_entry_points:
        found.update((id(offer), offer) for point in entry_points(group=GROUP) for offer in _load_entry_point(point))
    return _compile(found.values())


def _compile(offers: Iterable[Any]) -> list[CompiledTool]:
    """Make offers ready; what a module offers itself and in a toolkit or Registry too is offered once."""
    registries = [offer for offer in offers if isinstance(offer, Registry)]
    held = {id(tool) for registry in registries for tool in registry.offered}
    items = {id(it): it for offer in offers for it in (offer if isinstance(offer, Registry) else _list_tools(offer))}
    ready = [it if isinstance(it, CompiledTool) else _adopt(it).compiled for it in items.values()]
    return list({id(it): it for it in ready if id(it) not in held or id(it) in items}.values())


def watched_folders(places: Iterable[str]) -> list[Path]:
    """List the folders whose files decide what `discover` finds."""
    wanted = [_resolve(place) for place in places]
    paths = [Path(place).resolve() for place in wanted if Path(place).exists()]
    named = [Path(file).resolve() for place in wanted if not Path(place).exists() for file in _list_files(place)]
    return list(dict.fromkeys(path if path.is_dir() else path.parent for path in (*paths, *named)))


def _resolve(place: str) -> str:
    """Return what a place stands for: itself, unless it is the default one or means what ships."""
    if Path(place).exists():
        return place
    if place == DEFAULT_PLACE:
        file = Path(f"{place}.py")
        return str(file if file.is_file() else shipped_tools())
    package, _, name = place.partition(".")
    shipped = shipped_tools() / f"{name}.py" if name else shipped_tools()
    return str(shipped) if package == SHIPPED_PLACE and shipped.exists() else place


def shipped_tools() -> Path:
    """Return the folder of the tools that ship: beside this file when installed, at the top of a checkout."""
    # No package can have this name, so that installed tools are read by their path and in no other way.
    installed = Path(__file__).parent / "tools.d"
    return installed if installed.is_dir() else Path(__file__).parents[2] / "tools"


def _list_files(place: str) -> list[str]:
    return [module.__file__ for module in load_named(place) if module.__file__]


def _load(place: str) -> Iterator[ModuleType]:
    path = Path(place)
    if path.is_file():
        yield load_file(path.resolve())
    elif path.is_dir():
        yield from (load_file(file) for file in public_files(path.resolve()))
    elif path.suffix == ".py" or "/" in place:
        raise DiscoveryError(f"There is no file or folder {place!r} (looked in {Path.cwd()}).")
    else:
        yield from load_named(place)


def _list_offers(offered: object) -> list[Any]:
    items = _list_public(offered) if isinstance(offered, ModuleType) else [offered]
    return [item for item in items if _is_tool(item) or _is_toolkit(item) or isinstance(item, Registry)]


def _is_tool(item: object) -> bool:
    return isinstance(item, BaseTool) or is_foreign_tool(item)


def _is_toolkit(item: object) -> bool:
    return isinstance(item, BaseToolkit) or is_foreign_toolkit(item)


def _list_tools(offer: Any) -> list[Any]:
    if _is_tool(offer):
        return [offer]
    where = f"{find_source(offer.get_tools)}: toolkit {type(offer).__name__}"
    try:
        tools = list(offer.get_tools())
    except DefinitionError:
        raise
    except (Exception, SystemExit) as error:
        raise DiscoveryError(f"{where} cannot make its tools: {type(error).__name__}: {error}") from error
    for it in tools:
        if not _is_tool(it):
            raise DiscoveryError(f"{where} has to return tools, not {type(it).__name__}; decorate it with @tool.")
    return tools


def _adopt(item: Any) -> BaseTool:
    return item if isinstance(item, BaseTool) else tool(item)


def _list_public(module: ModuleType) -> list[object]:
    exported = getattr(module, "__all__", None)
    names = exported if exported is not None else [name for name in vars(module) if not name.startswith("_")]
    items = [getattr(module, name) for name in names if hasattr(module, name)]
    for item in items:
        if inspect.isclass(item) and issubclass(item, BaseTool | BaseToolkit) and item.__module__ == module.__name__:
            _remind_of_instance(module, item, items)
    return items


def _remind_of_instance(module: ModuleType, kind: type[BaseTool | BaseToolkit], items: list[object]) -> None:
    if not any(isinstance(item, kind) for item in items) and not kind.__subclasses__():
        name = kind.__name__
        variable = "tool" if issubclass(kind, BaseTool) else "toolkit"
        text = "%s: class %s is not offered; make an instance: %s = %s()"
        logger.warning(text, module.__file__, name, variable, name)


def _load_entry_point(point: EntryPoint) -> list[Any]:
    try:
        offered = point.load()
    except DefinitionError:
        raise
    except (Exception, SystemExit) as error:
        package = point.dist.name if point.dist else "?"
        text = (
            f"The entry point {point.name!r} of package {package!r} cannot be loaded: {type(error).__name__}: {error}"
        )
        raise DiscoveryError(text) from error
    return _list_offers(offered)
