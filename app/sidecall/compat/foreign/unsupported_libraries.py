"""Recognize tools of unsupported libraries by package and class, and suggest replacements."""

import inspect
from types import FunctionType, ModuleType
from typing import Any

from sidecall.compat.foreign.libraries import Library, Role, find_library, find_mark
from sidecall.compat.foreign.readers import explain_module, find_obstacle, find_reader
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.errors import InvalidToolOption

_OVER = "write sidecall's @tool over {its} function{s}"
_SERVER = "its tools are those of an MCP server; name that in SIDECALL_MCP_SERVERS"
_AGENT = "it runs models, which is the program's part; its tools are offered where they have names of their own"
_MARK = "__kernel_function__"
# What classes of tools are called in libraries that are not known here, and where others look after them.
_USUAL = frozenset(f"{first}Tool{last}" for first in ("", "Base", "Function", "Agent") for last in ("", "kit", "set"))
_LOOKED_AFTER = frozenset(("sidecall", "langchain_core", "agents"))


def explain_elsewhere(thing: Any, it: str) -> str | None:
    """Describe an object of another library and its replacement; None for anything else.

    Args:
        thing: What may be one.
        it: How a program writes it, such as `search` or `tools[0]`.
    """
    if isinstance(thing, ModuleType):
        return explain_module(thing, it)
    if isinstance(thing, FunctionType):
        title = find_mark(thing)
        return None if title is None else f"it is a plain function, which {title} knows; {_write(it, f'tool({it})')}"
    found = find_library(thing)
    if found is not None:
        return _explain(thing, it, *found)
    marked = [] if isinstance(thing, type) else _list_marked(type(thing))
    if marked:
        return (
            f"Semantic Kernel knows its methods; write tools = [{', '.join(f'tool({it}.{name})' for name in marked)}]"
        )
    root = _find_usual(thing)
    return None if root is None else f"it seems to be a tool of {root}, which is not taken over; {_say_over('tool')}"


def _list_marked(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if isinstance(value, FunctionType) and _MARK in vars(value)]


def refuse_elsewhere(thing: Any, *, is_described: bool = False) -> None:
    """Refuse a tool of another library that is about to be made a tool here.

    Args:
        thing: What is to be called.
        is_described: Whether it is said what it takes, without looking at the thing.

    Raises:
        InvalidToolOption: It is one, and that cannot be right.
    """
    if isinstance(thing, FunctionType | type):
        return
    found = find_library(thing)
    if found is None and (is_described or not _says_nothing(thing)):
        return
    text = explain_elsewhere(thing, "it") or "what it takes is not said; offer a function with parameters of its own"
    raise InvalidToolOption(f"{find_source(type(thing))}: an object of this class is no function: {text}.")


def find_own_parameter(function: Any, library: Library) -> str | None:
    """Return a function's first parameter that its library injects, by its annotation, or None."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    for it in parameters:
        module = getattr(it.annotation, "__module__", None) or ""
        written = it.annotation if isinstance(it.annotation, str) else ""
        if library.holds(str(module)) or written.endswith("Context"):
            return it.name
    return None


def _explain(thing: Any, it: str, library: Library, role: Role) -> str:
    if role.kind == "server":
        return _SERVER
    if role.kind == "agent":
        return _AGENT
    if role.reader:
        return _explain_readable(thing, it, library, role)
    if role.kind == "group":
        return f"it holds tools of {library.title}, which are not taken over; {_mend_group(it, role)}"
    return f"it is a tool of {library.title}, which is not taken over; {_mend_tool(thing, it, library, role)}"


def _explain_readable(thing: Any, it: str, library: Library, role: Role) -> str:
    """Explain why an object that can be taken over is not: a class, a tool that asks for what is not here."""
    if isinstance(thing, type):
        kind = "tool" if role.kind == "tool" else "toolkit"
        return f"it is a class of {library.title}, of which there is no object; write {kind} = {it}"
    known = find_reader(thing)
    obstacle = None if known is None or known.is_group else find_obstacle(thing, known)
    if obstacle is not None:
        return f"it is a tool of {library.title} that cannot be taken over: {obstacle}"
    what = "it is a tool" if role.kind == "tool" else "it holds tools"
    return f"{what} of {library.title}; offer it as it is{f', or {it} = tool({it})' if role.kind == 'tool' else ''}"


def _mend_group(it: str, role: Role) -> str:
    if role.function is None:
        return _say_over("group")
    each = role.each.format(it=it)
    return f"write tools = [tool({_reach('one', role.function)}) for one in {each}]"


def _mend_tool(thing: Any, it: str, library: Library, role: Role) -> str:
    if role.function is None or isinstance(thing, type):
        return _say_over("tool")
    own = find_own_parameter(_get(thing, role.function), library)
    if own is not None:
        return f"{_say_over('tool')}, which takes a ToolContext of sidecall in the place of `{own}`"
    # A method that every tool of this kind has says nothing of what the tool is called.
    tool = f"tool({find_name(thing) or 'name'!r})" if role.is_method else "tool"
    return _write(it, f"{tool}({_reach(it, role.function)})")


def find_name(thing: Any) -> str:
    """Return the name attribute of a tool, without calling it; empty if it has none."""
    texts = (inspect.getattr_static(thing, name, None) for name in ("name", "_name", "_tool_name", "__name__"))
    return next((text for text in texts if isinstance(text, str)), "")


def _get(thing: Any, function: str) -> Any:
    try:
        return getattr(thing, function) if function else thing
    except Exception:  # It is not as it is in the releases that are known here.
        return None


def _reach(it: str, function: str) -> str:
    return f"{it}.{function}" if function else it


def _say_over(kind: str) -> str:
    return _OVER.format(its="its", s="") if kind == "tool" else _OVER.format(its="their", s="s")


def _write(it: str, made: str) -> str:
    return f"write {it}_tool = {made}" if it.isidentifier() and it != "it" else f"offer {made}"


def _says_nothing(thing: Any) -> bool:
    """Return whether an object accepts any call, and has a name and description like a tool."""
    call = inspect.getattr_static(type(thing), "__call__", None)
    if not isinstance(call, FunctionType) or "__wrapped__" in getattr(thing, "__dict__", ()):
        return False
    kinds = {it.kind for it in list(inspect.signature(call).parameters.values())[1:]}
    takes_anything = bool(kinds) and kinds <= {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return takes_anything and _is_described(thing)


def _is_described(thing: Any) -> bool:
    texts = (inspect.getattr_static(thing, name, None) for name in ("name", "description", "desc", "metadata"))
    return any(text is not None for text in texts)


def _find_usual(thing: Any) -> str | None:
    """Return the package of a class whose instances are called like tools and have a name, or None."""
    if isinstance(thing, type) or not isinstance(inspect.getattr_static(thing, "name", None), str):
        return None
    roots = [it.__module__.partition(".")[0] for it in type(thing).__mro__ if it.__name__ in _USUAL]
    return roots[0] if roots and _LOOKED_AFTER.isdisjoint(roots) else None
