"""Find what a module seems to offer and does not, with its line and a replacement."""

import ast
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct

from sidecall.authoring.base_tool import BaseTool
from sidecall.authoring.structured_tool import StructuredTool
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.compat.foreign.declared import explain_not_offered
from sidecall.compat.foreign.unsupported_libraries import explain_elsewhere, find_name
from sidecall.kernel.registry import Registry
from sidecall.loading.collect import COLLECTIONS, find_public, is_collected, is_tool, walk

# Where an object keeps the tools that it holds.
_HOLDERS = ("functions", "tools", "spec_functions", "_tools_by_name")
# A list of tools is short; others are not looked through.
_DEPTH = 3


def find_elsewhere(
    module: ModuleType, public: Mapping[str, Any], offered: Iterable[Any] = ()
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Find tools of other libraries, also in collections: their name in the module, the replacement, their own name.

    Args:
        module: Where they stand.
        public: Its public names that are not offered.
        offered: Those that are.
    """
    seen: set[int] = set()
    own = {name: it for name, it in public.items() if not isinstance(it, COLLECTIONS)}
    rest = {name: it for name, it in public.items() if isinstance(it, COLLECTIONS)}
    known = [*own.values(), *(one for it in offered for one in (walk(it) if isinstance(it, COLLECTIONS) else (it,)))]
    for name, thing in (*own.items(), *rest.items()):
        for written, it in _walk(name, thing, _DEPTH):
            is_new = id(it) not in seen and not _is_of_others(module, it, known)
            seen.add(id(it))
            reached = f"{written}()" if isinstance(it, type) else written
            text = explain_elsewhere(it, reached) if is_new else None
            if text is not None:
                yield name, f"{written} is not offered: {text}", _list_tool_names(it) or (name,)


def _walk(written: str, thing: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield an object as a program writes it; for a collection, its items."""
    if not isinstance(thing, COLLECTIONS) or not depth:
        yield written, thing
        return
    for key, it in islice(thing.items() if hasattr(thing, "items") else enumerate(thing), _MOST_LOOKED_AT):
        yield from _walk(f"{written}[{key!r}]", it, depth - 1)


def _is_of_others(module: ModuleType, thing: Any, own: Collection[Any]) -> bool:
    """Return whether a class was only imported, or is represented by instances in the module."""
    if not isinstance(thing, type):
        return False
    # Not asked with isinstance(), which a TypedDict and most protocols refuse.
    return thing.__module__ != module.__name__ or any(kind is thing for it in own for kind in type(it).__mro__)


def _list_tool_names(thing: Any) -> tuple[str, ...]:
    """List the names of the tools in an object, without calling it; else its own name."""
    for holder in _HOLDERS:
        held = inspect.getattr_static(thing, holder, None)
        if isinstance(held, dict):
            return tuple(map(str, held))
        if isinstance(held, list | tuple):
            return tuple(it if isinstance(it, str) else find_name(it) for it in held)
    name = find_name(thing)
    return (name,) if name else ()


class Omission(Struct, frozen=True):
    """Something that is not offered: its place, the reason, and the tools in it, which may be offered otherwise."""

    place: str
    text: str
    tools: tuple[str, ...] = ()


TakeOmission = Callable[[Omission], object]

# A list of tools begins with one; in others nothing is looked for far.
_MOST_LOOKED_AT = 100

_MOST_NAMED = 3

_MOST_WRAPPERS = 20
# What lists of tools are called, and functions that make one.
_MEANT = re.compile(r"(?:\w+_)?tools", re.IGNORECASE)

_MAKES_TOOLS = re.compile(r"(?:get|make|build|create|load|list)_(?:\w+_)?tools")


def find_omissions(module: ModuleType) -> Iterator[Omission]:
    """Find public names, or those in `__all__`, that are not offered."""
    public = find_public(module)
    offered = _list_offered(public.values())
    others = {name: it for name, it in public.items() if isinstance(it, ModuleType) or not is_collected(it)}
    told = set()
    for name, text, tools in find_elsewhere(module, others, (it for name, it in public.items() if name not in others)):
        told.add(name)
        yield Omission(find_place(module, name), text, tools)
    for name, item in others.items():
        text, tools = _explain(module, name, item, public.values(), offered)
        # What is named already needs no other note, unlike its neighbours in a list.
        if text and (name not in told or isinstance(item, COLLECTIONS)):
            yield Omission(find_place(module, name), text, tools)


def _list_offered(items: Collection[Any]) -> set[int]:
    held = (it for item in items if isinstance(item, Registry) for it in item.given)
    return {id(it) for it in (*items, *held)}


def _explain(
    module: ModuleType, name: str, item: Any, items: Collection[Any], offered: set[int]
) -> tuple[str, tuple[str, ...]]:
    reason = explain_not_offered(item)
    if reason is not None:
        return f"{name}, of the class {type(item).__name__}, is not offered: {reason}", ()
    if inspect.isclass(item):
        return _remind_of_instance(module, item, items), ()
    if isinstance(item, FunctionType):
        return _explain_wrapper(name, item, offered) or (_explain_maker(module, name, item, items), ())
    if isinstance(item, COLLECTIONS):
        return _explain_collection(name, item, offered)
    return _explain_group(name, item), ()


def _explain_group(name: str, item: Any) -> str:
    """Explain that an object with only a `get_tools` method is not called."""
    get_tools = inspect.getattr_static(type(item), "get_tools", None)
    if not isinstance(get_tools, FunctionType) or isinstance(item, Registry):
        return ""
    if inspect.iscoroutinefunction(get_tools):
        return f"{name}, of the class {type(item).__name__}, is not offered: nothing awaits its get_tools()"
    text = f"its get_tools() is not called, since {type(item).__name__} is no BaseToolkit of sidecall or LangChain"
    return f"{name} is not offered: {text}; make it one, or write tools = {name}.get_tools()"


def _remind_of_instance(module: ModuleType, kind: type, items: Collection[Any]) -> str:
    if not issubclass(kind, BaseTool | BaseToolkit) or kind.__module__ != module.__name__:
        return ""
    if any(isinstance(item, kind) or _stands_in(item, kind) for item in _list_all(items)) or kind.__subclasses__():
        return ""
    variable = "tool" if issubclass(kind, BaseTool) else "toolkit"
    return f"class {kind.__name__} is not offered; make an instance: {variable} = {kind.__name__}()"


def _stands_in(item: Any, kind: type) -> bool:
    """Return whether a tool's function is a method, as for tools made by an instance."""
    function = (item.func or item.coroutine) if isinstance(item, StructuredTool) else None
    return str(getattr(function, "__qualname__", "")).startswith(f"{kind.__qualname__}.")


def _list_all(items: Iterable[Any]) -> Iterator[Any]:
    """List the object under a name, and the contents of collections and registries."""
    for item in items:
        if isinstance(item, Registry):
            yield from islice(item.given, _MOST_LOOKED_AT)
        elif isinstance(item, COLLECTIONS):
            yield from islice(walk(item), _MOST_LOOKED_AT)
        else:
            yield item


def _explain_maker(module: ModuleType, name: str, function: FunctionType, items: Collection[Any]) -> str:
    """Explain that a function which seems to make tools is not called."""
    is_own = function.__module__ == module.__name__ and function.__name__ == name
    if not is_own or not _MAKES_TOOLS.fullmatch(name) or any(is_collected(it) for it in items):
        return ""
    return f"{name} is not called, and offers nothing; write tools = {name}(...)"


def _explain_wrapper(name: str, function: FunctionType, offered: set[int]) -> tuple[str, tuple[str, ...]] | None:
    """Explain that a decorator above @tool has turned the tool into a function again."""
    inner: Any = function
    for _ in range(_MOST_WRAPPERS):
        inner = vars(inner).get("__wrapped__") if isinstance(inner, FunctionType) else None
        if inner is not None and is_tool(inner) and id(inner) not in offered:
            text = f"{name} is not offered: it is a function around the tool {inner.name!r}"
            return f"{text}; write that decorator below @tool", (inner.name,)
    return None


def _explain_collection(name: str, items: Any, offered: set[int]) -> tuple[str, tuple[str, ...]]:
    """Explain that a collection is not offered because it also holds other objects."""
    values = list(islice(walk(items), _MOST_LOOKED_AT))
    tools = [it for it in values if is_tool(it) and id(it) not in offered]
    others = [it for it in values if not is_collected(it)]
    if others and all(isinstance(it, FunctionType) for it in values) and _MEANT.fullmatch(name):
        named = tuple(it.__name__ for it in values)
        return (
            f"{name} holds plain functions, which are not offered ({_name_some(named)}): write @tool over them",
            named,
        )
    if not tools or not others:
        return "", ()
    names = tuple(str(it.name) for it in tools)
    text = f"{name} holds tools that are not offered ({_name_some(names)}), since it does not hold tools alone"
    return f"{text}: {_suggest_fix(others[0])}", names


def _name_some(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:_MOST_NAMED])}{', ...' if len(names) > _MOST_NAMED else ''}"


def _suggest_fix(other: Any) -> str:
    """Say how to fix a collection with an object that is no tool."""
    if isinstance(other, FunctionType):
        return f"decorate the function {other.__name__} with @tool"
    return f"take out what is none, of the class {type(other).__name__}, or give each tool a name of its own there"


def find_place(module: ModuleType, name: str) -> str:
    """Return file and line, relative to the working directory if inside it; the last definition counts."""
    file = getattr(module, "__file__", None)
    if file is None:
        return module.__name__
    path = Path(file)
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    lines = [node.lineno for node in _list_statements(path) if name in _list_names(node)]
    return f"{shown}:{max(lines)}" if lines else str(shown)


def _list_statements(path: Path) -> Iterator[ast.stmt]:
    """List the statements of a module, including those in `if` and `try`."""
    try:
        pending: list[ast.AST] = [ast.parse(path.read_text())]
    except (OSError, SyntaxError, ValueError):
        return
    while pending:
        for node in ast.iter_child_nodes(pending.pop(0)):
            if isinstance(node, ast.stmt):
                yield node
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
                pending.append(node)


def _list_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (it.id for target in targets for it in ast.walk(target) if isinstance(it, ast.Name))
