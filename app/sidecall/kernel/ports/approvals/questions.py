"""Detect from a tool's code whether it asks a person while it runs."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeGuard

from sidecall.kernel.ports.approvals.approval import ApprovalRequired

# Attributes of decorators and tools that hold the wrapped function.
_INNER = ("__wrapped__", "func", "coroutine")
# Values that ask no question. What a function takes from a module, it names beside the module.
_SILENT = frozenset((ModuleType, str, int, float, bytes, type(None)))


def asks_inside(function: Callable[..., Any]) -> bool:
    """Return whether a function, or what it calls in its own module, refers to something that asks a person.

    This includes tools that ask, LangGraph's `interrupt`, and all functions of a module that imports such a thing
    without using it: another module then raises it for them.
    """
    return Questions().asks_inside(function)


class Questions:
    """Finds the functions that ask a person, and looks at each module once, which may have thousands of tools."""

    def __init__(self) -> None:
        self._marked: dict[int, bool] = {}
        self._telling: dict[int, frozenset[str]] = {}

    def asks_inside(self, function: Callable[..., Any]) -> bool:
        """Return whether a function asks; so long as it is used, modules must not change."""
        if self._is_silent(function):
            return self._is_marked(function.__globals__)
        begun = list(_find_functions([function], None))
        return _reach_question(begun) or any(self._is_marked(one.__globals__) for one in begun)

    def _is_silent(self, function: Callable[..., Any]) -> TypeGuard[FunctionType]:
        """Return whether a function holds nothing and names nothing that could ask, as most; the rest is followed."""
        if type(function) is not FunctionType or function.__dict__ or function.__closure__:
            return False
        module = function.__globals__
        if id(module) not in self._telling:
            named = (name for name, value in module.items() if type(value) not in _SILENT)
            self._telling[id(module)] = frozenset((*named, ApprovalRequired.__name__, _INTERRUPT[1]))
        return self._telling[id(module)].isdisjoint(_list_names(function.__code__))

    def _is_marked(self, module: Mapping[str, Any]) -> bool:
        if id(module) not in self._marked:
            self._marked[id(module)] = _is_marked(module)
        return self._marked[id(module)]


def _reach_question(functions: Iterable[FunctionType]) -> bool:
    reached = _list_reached(functions)
    return any(_names_question(it) or any(map(_is_asked_about, _list_values(it))) for it in reached)


def list_named(function: Any) -> dict[str, Any]:
    """List the names that a function or tool, and what it calls in its own module, uses of that module."""
    reached = _list_reached(_find_functions([function], None))
    known = ((name, one.__globals__) for one in reached for name in _list_names(one.__code__))
    return {name: module[name] for name, module in known if name in module}


def _list_reached(functions: Iterable[FunctionType]) -> Iterator[FunctionType]:
    """Give these functions, and those that they call in their own modules."""
    waiting, seen = list(functions), set[CodeType]()
    while waiting:
        function = waiting.pop()
        if function.__code__ in seen:
            continue
        seen.add(function.__code__)
        yield function
        module = function.__globals__
        waiting += _find_functions(_list_values(function), module)


def _list_values(function: FunctionType) -> list[Any]:
    """List what a function names of its module, and what it is closed over."""
    module = function.__globals__
    return [*(module[name] for name in _list_names(function.__code__) if name in module), *_list_closed(function)]


def _is_marked(module: Mapping[str, Any]) -> bool:
    values = list(module.values())
    return any(map(_is_question, values)) and not any(map(_names_question, _find_functions(values, module)))


def _find_functions(values: Iterable[Any], module: Mapping[str, Any] | None) -> Iterator[FunctionType]:
    """Yield the functions inside decorators, partials, methods, classes, objects and tools."""
    waiting, seen = list(values), set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType) and (module is None or value.__globals__ is module):
            yield value
        waiting += _open(value, None if module is None else module.get("__name__"))


def _open(value: Any, module: str | None) -> list[Any]:
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func]
    kind = value if isinstance(value, type) else type(value)
    held = {} if isinstance(value, type) else getattr(value, "__dict__", {})
    inner = [held[name] for name in _INNER if held.get(name) is not None] if isinstance(held, dict) else []
    if kind.__module__ != (module or kind.__module__) or kind.__module__ == "builtins":
        return inner
    bases = [base for base in kind.__mro__ if base.__module__ == kind.__module__]
    members = [member for base in bases for member in vars(base).values() if _is_method(member)]
    return [*inner, *(getattr(member, "__func__", member) for member in members)]


def _is_method(member: Any) -> bool:
    return isinstance(member, (FunctionType, staticmethod, classmethod))


def _list_closed(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # It has nothing yet.
            continue


def _names_question(function: FunctionType) -> bool:
    known = function.__globals__
    names = frozenset(_list_names(function.__code__))
    is_ours = any(name == ApprovalRequired.__name__ or _is_question(known.get(name)) for name in names)
    return is_ours or _names_interrupt(names, known)


def _names_interrupt(names: frozenset[str], known: Mapping[str, Any]) -> bool:
    """Return whether LangGraph's `interrupt` is among these, under any name, or looked up at run time."""
    values = [known[name] for name in names if name in known]
    if any(isinstance(it, FunctionType) and (it.__module__, it.__name__) == _INTERRUPT for it in values):
        return True
    modules = [it.__name__ for it in values if isinstance(it, ModuleType)]
    return _INTERRUPT[1] in names and any(name.partition(".")[0] == "langgraph" for name in (*names, *modules))


_INTERRUPT = ("langgraph.types", "interrupt")


def _list_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _list_names(const)


def _is_asked_about(value: Any) -> bool:
    """Return whether a value is a tool that requires approval."""
    is_tool = "requires_approval" in getattr(type(value), "model_fields", ())
    return is_tool and value.requires_approval not in (None, False)


def _is_question(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, ApprovalRequired)
