"""Find calls in async tools that hold up the event loop until they return, such as `time.sleep`."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

from sidecall.cli.checks.blocking_names import find_advice
from sidecall.cli.checks.naming import Namespace, Reference
from sidecall.core.tool import CompiledTool
from sidecall.dataclasses import dataclass
from sidecall.schema.lint import Finding

# Functions of the author's that call each other, one inside the other.
_MOST_DEEP = 5
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef)
_FOREIGN = frozenset(("site-packages", "dist-packages", "sidecall"))


def find_blocking(tools: Iterable[CompiledTool]) -> Iterator[Finding]:
    """Warn of each such call of tools that run on the event loop, also in functions of the author's that they call."""
    for tool in tools:
        if tool.executor == "inline" and tool.options.command is None:
            for text in dict.fromkeys(_Search().look_into(tool.function)):
                yield Finding(tool.name, "warning", text)


@dataclass(frozen=True, slots=True)
class _Source:
    """A function whose code can be read: its tree, the line before its first one, and what its names stand for."""

    tree: _Function
    offset: int
    names: Namespace


class _Search:
    """One look through a tool's function and those that it calls."""

    def __init__(self) -> None:
        self._seen: set[object] = set()

    def look_into(self, function: Callable[..., Any], path: tuple[str, ...] = ()) -> Iterator[str]:
        """Yield of each call that blocks what it is, and through which functions it is made."""
        own, plain = _unwrap(function)
        if plain is None or plain.__code__ in self._seen or len(path) > _MOST_DEEP:
            return
        self._seen.add(plain.__code__)
        source = _read_source(plain, own)
        if source is not None:
            yield from self._look_at(source.tree, source, {}, path)

    def _look_at(
        self, function: _Function, source: _Source, outer: dict[str, _Function], path: tuple[str, ...]
    ) -> Iterator[str]:
        nested = dict(outer)  # Functions inside of functions, each looked at where it is called.
        for node in _walk_in_order(function.body):
            source.names.note(node)
            if isinstance(node, _NESTED):
                nested[node.name] = node
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else None
            if name in nested:
                inner = nested.pop(name)
                yield from self._look_at(inner, source, nested, (*path, inner.name))
                continue
            reference = source.names.resolve(node.func)
            if reference is not None:
                yield from self._judge(reference, source.offset + node.lineno, path)

    def _judge(self, reference: Reference, line: int, path: tuple[str, ...]) -> Iterator[str]:
        advice = next((it for name in reference.names if (it := find_advice(reference.top, name)) is not None), None)
        if advice is not None:
            through = f", in `{' > '.join(path)}`" if path else ""
            yield (
                f"calls `{reference.shown}` on the event loop (line {line}{through}), which holds up every caller until"
                f' it returns, past its deadline: use {advice}, or executor="thread"'
            )
        elif callable(reference.value):
            yield from self.look_into(reference.value, (*path, reference.names[0]))


def _unwrap(function: Any) -> tuple[Any, FunctionType | None]:
    """Return what a method belongs to, and the plain function; None where there is none of the author's."""
    while isinstance(function, partial):
        function = function.func
    own = getattr(function, "__self__", None)
    function = inspect.unwrap(getattr(function, "__func__", function))
    if not isinstance(function, FunctionType) or _FOREIGN.intersection(Path(function.__code__.co_filename).parts):
        return own, None
    return own, function if Path(function.__code__.co_filename).exists() else None


def _read_source(function: FunctionType, own: Any) -> _Source | None:
    try:
        lines, first = inspect.getsourcelines(function)
        [tree] = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return None
    if not isinstance(tree, _NESTED):
        return None
    return _Source(tree, first - 1, Namespace(function, own))


def _walk_in_order(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Walk through what runs when a function is called, as it is written; functions inside of it run when they are."""
    for node in body:
        yield node
        if not isinstance(node, (*_NESTED, ast.Lambda, ast.ClassDef)):
            yield from _walk_in_order(ast.iter_child_nodes(node))
