"""Resolve the names in a function's code."""

import ast
import builtins
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

_MISSING = object()
# What functions make whose annotations do not say it: the package and class of the object.
_MAKERS = {
    ("asyncio", "run_coroutine_threadsafe"): ("concurrent", "Future"),
    ("concurrent", "ThreadPoolExecutor.submit"): ("concurrent", "Future"),
    ("concurrent", "ProcessPoolExecutor.submit"): ("concurrent", "Future"),
    ("requests", "session"): ("requests", "Session"),
    ("sqlalchemy", "create_engine"): ("sqlalchemy", "Engine"),
    ("sqlalchemy", "Engine.connect"): ("sqlalchemy", "Connection"),
    ("urllib", "build_opener"): ("urllib", "OpenerDirector"),
}
# Modules in C, and what they are called by.
_SPOKEN = {"posix": "os", "nt": "os", "io": "builtins"}


@dataclass(frozen=True, slots=True)
class Reference:
    """What a name refers to: its package, its names there, most specific first, and the object if known.

    `is_instance` says that only the object's class is known, and `value` is that class. `owner` is the object or class
    of a method.
    """

    top: str
    names: tuple[str, ...]
    shown: str
    value: Any = None
    is_instance: bool = False
    owner: Any = None

    @property
    def callee(self) -> Any:
        """The function that a call runs; None if unknown."""
        if isinstance(self.value, type):
            return getattr(self.value, "__call__" if self.is_instance else "__init__", None)
        return self.value if inspect.isroutine(self.value) or not self.is_instance else type(self.value).__call__


class Namespace:
    """The namespace of one function: its own imports and variables, its module's, and built-ins."""

    def __init__(self, function: FunctionType, own: Any) -> None:
        """Prepare it; `own` is the object whose method the function is."""
        self._locals: dict[str, Reference] = {}
        self._live = {**vars(builtins), **function.__globals__, **_read_closure(function)}
        code = function.__code__
        parameters = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        for name in parameters:
            self._live.pop(name, None)
        if isinstance(own, Reference) and parameters:
            self._locals[parameters[0]] = own
        elif own is not None and parameters:
            self._live[parameters[0]] = own

    def note(self, node: ast.AST) -> None:
        """Record what a statement imports or assigns."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self._locals.update(_read_imports(node))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._note_made(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self._note_made(node.target, node.value)
        elif isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is not None:
                    self._note_made(item.optional_vars, item.context_expr)

    def _note_made(self, target: ast.AST, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            made = self.resolve(value)
            self._live.pop(target.id, None)
            self._locals.pop(target.id, None)
            if made is not None:
                self._locals[target.id] = made

    def resolve(self, node: ast.AST) -> Reference | None:
        """Resolve an expression; None if that is impossible."""
        if isinstance(node, ast.Name):
            if node.id in self._locals:
                return self._locals[node.id]
            value = self._live.get(node.id, _MISSING)
            return None if value is _MISSING else _read_object(value, node.id)
        if isinstance(node, ast.Call):
            made = self.resolve(node.func)
            if made is not None and (made.top, made.names) == ("functools", ("partial",)) and node.args:
                return self.resolve(node.args[0])
            return None if made is None else _read_made(made)
        if not isinstance(node, ast.Attribute):
            return None
        owner = self.resolve(node.value)
        return None if owner is None else _read_attribute(owner, node.attr)


def _read_imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Reference]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, _read_path(f"{node.module}.{alias.name}")
        else:
            path = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or path, _read_path(path)


def _read_closure(function: FunctionType) -> Mapping[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # It is not filled yet.
            continue
    return found


def _read_path(path: str) -> Reference:
    """Resolve a dotted path, whose module may not be imported yet."""
    top, _, rest = path.partition(".")
    return Reference(top, (rest.rpartition(".")[2],) if rest else (), path)


def _read_object(value: Any, shown: str) -> Reference | None:
    while isinstance(value, partial):
        value = value.func
    if isinstance(value, ModuleType):
        return Reference(_name_top(value.__name__), (), value.__name__, value)
    if isinstance(value, type) or inspect.isroutine(value) or callable(getattr(value, "__wrapped__", None)):
        top = _name_top(str(getattr(value, "__module__", None) or "builtins"))
        name = str(getattr(value, "__qualname__", shown))
        return Reference(top, (name,), _spell(value, name, top), value)
    return _read_instance(value, shown)


def _spell(value: Any, name: str, top: str) -> str:
    """Return the shortest public name of an object, such as `requests.get` for one in `requests.api`."""
    if top == "builtins":
        return name
    parts = str(value.__module__).split(".")
    for count in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:count]))
        if module is not None and vars(module).get(name) is value:
            return f"{_SPOKEN.get(module.__name__, module.__name__)}.{name}"
    return f"{top}.{name}"


def _read_instance(value: Any, shown: str) -> Reference:
    kind = type(value)
    names = tuple(it.__name__ for it in kind.__mro__)
    top = _find_top(kind)
    return Reference(top, names, shown if top == "builtins" else f"{top}.{kind.__name__}", value, is_instance=True)


def _find_top(kind: type) -> str:
    """Return the package of a class; for an author's class that of its library base class."""
    tops = [_name_top(it.__module__) for it in kind.__mro__ if it is not object]
    return next((it for it in tops[1:] if it not in (tops[0], "builtins", "abc", "typing")), tops[0]) if tops else ""


def _read_made(made: Reference) -> Reference | None:
    """Return the result of a call: an instance of the called class, or of a function's return annotation."""
    for name in made.names:
        if (maker := _MAKERS.get((made.top, name))) is not None:
            return Reference(maker[0], (maker[1],), ".".join(maker), is_instance=True)
    kind = made.value
    if inspect.isfunction(kind):
        with suppress(NameError):  # A class that is known to checkers of types only.
            kind = inspect.signature(kind).return_annotation
    if isinstance(kind, type):
        names = tuple(it.__name__ for it in kind.__mro__)
        return Reference(_find_top(kind), names, f"{_find_top(kind)}.{kind.__name__}", kind, is_instance=True)
    return Reference(made.top, made.names, made.shown, is_instance=True) if _is_class(made) else None


def _is_class(made: Reference) -> bool:
    return isinstance(made.value, type) or (made.value is None and any(name[:1].isupper() for name in made.names))


def _read_attribute(owner: Reference, name: str) -> Reference | None:
    shown = f"{owner.shown}.{name}"
    if owner.is_instance or _is_class(owner):
        value = _find_static(owner.value, name)
        return _read_member(owner, name, shown, value)
    if isinstance(owner.value, ModuleType):
        value = vars(owner.value).get(name, _MISSING)
        found = None if value is _MISSING else _read_object(value, shown)
        return Reference(owner.top, (name,), shown) if found is None else found
    return Reference(owner.top, (name,), shown) if owner.value is None else None


def _find_static(value: Any, name: str) -> Any:
    """Return an attribute without running the owner's code."""
    if value is None:
        return None
    found = inspect.getattr_static(value, name, None)
    if isinstance(found, classmethod | staticmethod):
        return found.__func__
    return getattr(value, name, None) if inspect.isfunction(found) else found


def _read_member(owner: Reference, name: str, shown: str, value: Any) -> Reference:
    names = tuple(_list_qualified(owner.names, name))
    if value is None or inspect.isroutine(value):
        # Only the class is known, not the object; its other methods are known too.
        is_unbound = owner.is_instance and isinstance(owner.value, type)
        return Reference(owner.top, names, shown, value, owner=owner if is_unbound else None)
    inner = _read_object(value, shown)
    return Reference(owner.top, names, shown) if inner is None else inner


def _list_qualified(owners: tuple[str, ...], name: str) -> Iterator[str]:
    return (f"{owner}.{name}" for owner in owners)


def _name_top(module: str) -> str:
    top = module.partition(".")[0].lstrip("_")
    return _SPOKEN.get(top, top)
