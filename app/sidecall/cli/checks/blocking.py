"""Find calls that hold up the event loop until they return, such as `time.sleep`, in what it runs of tools."""

import ast
import inspect
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any

from sidecall.cli.checks.blocking_names import WAITING, find_advice
from sidecall.cli.checks.naming import Namespace, Reference
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.lint import Finding

# Functions of the author's that call each other, one inside the other.
_MOST_DEEP = 5
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef)
# Decorators, each around the next.
_MOST_WRAPPED = 20
_LAMBDA = "<lambda>"
# Options that are functions, and run on the event loop where they are not async either.
_FUNCTIONS = (
    "is_enabled",
    "requires_approval",
    "handle_tool_error",
    "handle_validation_error",
    "failure_error_function",
    "timeout_error_function",
)
_FOREIGN = frozenset(("site-packages", "dist-packages", "sidecall"))
_OURS = "sidecall."
_STANDARD = sysconfig.get_path("stdlib")


def find_blocking(tools: Iterable[CompiledTool]) -> Iterator[Finding]:
    """Warn of each such call of what runs on the event loop, also in functions of the author's that it calls.

    Those are the functions of tools, unless they run elsewhere, and what their options have.
    """
    for tool in tools:
        remedy = "or make it async and await that"
        for option, function in _list_beside(tool):
            for text in dict.fromkeys(_Search(remedy).look_into(function)):
                yield Finding(tool.name, "warning", f"its `{option}` {text}")
        if tool.executor == "inline" and tool.options.command is None:
            for text in dict.fromkeys(_Search('or executor="thread"').look_into(tool.function)):
                yield Finding(tool.name, "warning", text)


def _list_beside(tool: CompiledTool) -> Iterator[tuple[str, Any]]:
    """List what options of a tool have of the author's that the event loop runs, whatever runs the tool."""
    for name in _FUNCTIONS:
        value = getattr(tool.options, name)
        if callable(value):
            yield name, value
    for name in ("tool_input_guardrails", "tool_output_guardrails"):
        for guardrail in getattr(tool.options, name):
            yield name, guardrail.guardrail_function


@dataclass(frozen=True, slots=True)
class _Source:
    """A function whose code can be read: what runs, the line before its first one, and what its names stand for."""

    body: Sequence[ast.AST]
    offset: int
    names: Namespace


class _Search:
    """One look through a function and those that it calls; `remedy` is what helps beside another call."""

    def __init__(self, remedy: str) -> None:
        self._remedy = remedy
        self._seen: set[object] = set()

    def look_into(self, function: Any, path: tuple[str, ...] = (), own: Any = None) -> Iterator[str]:
        """Yield of each call that blocks what it is, and through which functions it is made.

        `own` is what the function is a method of, where it does not say so itself.
        """
        found, plain = _find_plain(function)
        if plain is None or plain.__code__ in self._seen or len(path) > _MOST_DEEP:
            return
        self._seen.add(plain.__code__)
        source = _read_source(plain, own if found is None else found)
        if source is not None:
            yield from self._look_at(source.body, source, {}, path)

    def _look_at(
        self, body: Sequence[ast.AST], source: _Source, outer: Mapping[str, _Function], path: tuple[str, ...]
    ) -> Iterator[str]:
        nested = dict(outer)  # Functions inside of functions, each looked at where it is called.
        awaited: set[ast.AST] = set()
        for node in _walk_in_order(body):
            source.names.note(node)
            if isinstance(node, _NESTED):
                nested[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                nested |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.Await):
                awaited.add(node.value)
            elif isinstance(node, ast.Call):
                inner = _find_nested(node.func, nested)
                if inner is not None:
                    yield from self._look_at(_read_body(inner), source, nested, (*path, _name_inner(inner)))
                else:
                    yield from self._look_at_call(node, source, path, is_awaited=node in awaited)

    def _look_at_call(
        self, call: ast.Call, source: _Source, path: tuple[str, ...], *, is_awaited: bool
    ) -> Iterator[str]:
        reference = source.names.resolve(call.func)
        blocks = None
        if not (reference is not None and reference.top in WAITING and _goes_on_at_once(call)):
            blocks = _advise(reference) or (None if is_awaited else _advise_member(call.func, source.names))
        if blocks is not None:
            shown, advice = blocks
            line = source.offset + call.lineno
            through = f", in `{' > '.join(path)}`" if path else ""
            yield (
                f"calls `{shown}` on the event loop (line {line}{through}), which holds up every caller until"
                f" it returns, past its deadline: use {advice}, {self._remedy}"
            )
        elif reference is not None and reference.callee is not None:
            yield from self.look_into(reference.callee, (*path, reference.names[0]), reference.owner)


def _advise(reference: Reference | None) -> tuple[str, str] | None:
    """Return how a function that blocks is called, and what to use in its place."""
    if reference is None:
        return None
    advice = next((it for name in reference.names if (it := find_advice(reference.top, name)) is not None), None)
    return None if advice is None else (reference.shown, advice)


def _advise_member(function: ast.expr, names: Namespace) -> tuple[str, str] | None:
    """Return the same for what is called of a client whose methods all block, such as `client.responses.create`."""
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.insert(0, function.attr)
        function = function.value
        client = names.resolve(function)
        if client is not None and client.is_instance and "asyncio" not in client.shown:
            for name, stars in product(client.names, (".*", ".*.*")[: len(parts)]):
                if (advice := find_advice(client.top, name + stars)) is not None:
                    return ".".join([client.shown, *parts]), advice
    return None


def _goes_on_at_once(call: ast.Call) -> bool:
    """Return whether a call says that it does not wait, as `get(block=False)` and `wait(0)` do."""
    options = [it.value for it in call.keywords if it.arg in ("block", "blocking", "timeout")]
    return any(isinstance(it, ast.Constant) and it.value in (0, False) for it in (*call.args, *options))


def _find_nested(function: ast.expr, nested: dict[str, _Function]) -> _Function | None:
    """Return a function of the same body that is called here; each is looked at once."""
    if isinstance(function, ast.Lambda):
        return function
    return nested.pop(function.id, None) if isinstance(function, ast.Name) else None


def _name_inner(function: _Function) -> str:
    return "lambda" if isinstance(function, ast.Lambda) else function.name


def _read_body(function: _Function) -> Sequence[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else function.body


def _find_plain(function: Any) -> tuple[Any, FunctionType | None]:
    """Return what a method belongs to, and the plain function; None where there is none of the author's.

    What others wrap around a function is looked through; what the author wraps around it is code of theirs that runs.
    """
    own = None
    for _ in range(_MOST_WRAPPED):  # An object may say of any attribute that it has it.
        own = getattr(function, "__self__", None)
        function = getattr(function, "__func__", function)
        if isinstance(function, FunctionType) and _is_authors(function):
            return own, function
        function = _find_wrapped(function)
    return own, None


def _find_wrapped(function: Any) -> Any:
    if isinstance(function, partial):
        return function.func
    inner = getattr(function, "__wrapped__", None)
    # What options are made ready with has the author's function among its variables.
    if inner is None and isinstance(function, FunctionType) and function.__module__.startswith(_OURS):
        return next(filter(callable, inspect.getclosurevars(function).nonlocals.values()), None)
    return inner


def _is_authors(function: FunctionType) -> bool:
    file = Path(function.__code__.co_filename)
    return not _FOREIGN.intersection(file.parts) and not file.is_relative_to(_STANDARD) and file.exists()


def _read_source(function: FunctionType, own: Any) -> _Source | None:
    try:
        lines, first = inspect.getsourcelines(function.__code__)  # Of the function itself, whatever it wraps.
        [tree] = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return None
    if function.__name__ == _LAMBDA:
        found = [it for it in ast.walk(tree) if isinstance(it, ast.Lambda)]
        return _Source([found[0].body], first - 1, Namespace(function, own)) if len(found) == 1 else None
    return _Source(tree.body, first - 1, Namespace(function, own)) if isinstance(tree, _NESTED) else None


def _walk_in_order(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Walk through what runs when a function is called, as it is written; functions inside of it run when they are."""
    for node in body:
        yield node
        if not isinstance(node, (*_NESTED, ast.Lambda, ast.ClassDef)):
            yield from _walk_in_order(ast.iter_child_nodes(node))
