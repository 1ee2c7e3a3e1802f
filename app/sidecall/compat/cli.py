"""Find what files written for other libraries use and Sidecall cannot offer."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeGuard

from sidecall.kernel.core.tool import CompiledTool, Finding
from sidecall.loading.unsupported_imports import LOCAL_TOOLS, NOT_HERE

# What runs here as well, made of LangChain's own.
_RUNS_HERE = frozenset(("Runnable", "RunnableLambda"))
_UNMET = {name: text for name, text in {**NOT_HERE, **LOCAL_TOOLS}.items() if name not in _RUNS_HERE}
# What works in a file that is served as it is: there its own library runs the tools, and runs all else that it has.
_RUNS_THERE = frozenset(NOT_HERE) - frozenset(LOCAL_TOOLS)
# Where installed packages lie, which are no part of what their user writes.
_INSTALLED = frozenset(("site-packages", "dist-packages"))
_PACKAGES = ("langchain", "langchain_core", "langgraph", "agents")
_OURS = "sidecall"
# Files without any of these are not parsed.
_MAY_ASK = re.compile("|".join((*_PACKAGES, *(rf"\.{name}\b" for name in _UNMET))))
# Whose functions run the calls of tools that are taken over.
_TAKEN_OVER = "sidecall.compat.foreign."


def find_unmet(tools: Iterable[CompiledTool]) -> list[Finding]:
    """List the lines in these tools' files that use features of a running graph or agent.

    Tools that run through their own library are skipped, since it provides these.
    """
    files: dict[Path, list[CompiledTool]] = {}
    for tool in tools:
        path = _find_file(tool)
        if path is not None:
            files.setdefault(path.resolve(), []).append(tool)
    return [
        finding
        for path, found in files.items()
        if _INSTALLED.isdisjoint(path.parts)
        for finding in _read(path, [it for it in found if it.function.__module__.startswith(_TAKEN_OVER)])
    ]


def _find_file(tool: CompiledTool) -> Path | None:
    place, _, line = tool.source.rpartition(":")
    if line.isdigit():
        return Path(place)
    module = sys.modules.get(tool.source.rpartition(".")[0])
    file = getattr(module, "__file__", None)
    return Path(file) if file else None


def _read(path: Path, taken_over: Iterable[CompiledTool]) -> Iterator[Finding]:
    try:
        text = path.read_text()
        tree = ast.parse(text) if _MAY_ASK.search(text) else ast.Module([], [])
    except (OSError, SyntaxError, ValueError):
        return
    imported = dict(_list_imports(tree))
    if _OURS not in {name.partition(".")[0] for name in _list_modules(tree)}:
        imported = {known: name for known, name in imported.items() if name not in _RUNS_THERE}
    hosted = {id(node.func) for node in ast.walk(tree) if _is_hosted_shell(node, imported)}
    names = [node for node in ast.walk(tree) if _is_use(node) and node.id in imported and id(node) not in hosted]
    theirs = {line for span in _list_spans(tree, taken_over) for line in span}
    asked = {(it.lineno, imported[it.id]) for it in names} | set(_list_reached(tree))
    used = {(line, name) for line, name in asked if line not in theirs or name in LOCAL_TOOLS}
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    for line, name in sorted(used):
        yield Finding(f"{shown}:{line}", "warning", f"uses {name}, which is not here: {_UNMET[name]}")


def _list_reached(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """List the lines that reach missing names through a module, such as `langgraph.types.interrupt`."""
    is_ours = _OURS in {name.partition(".")[0] for name in _list_modules(tree)}
    roots = set(_list_roots(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _UNMET and (is_ours or node.attr not in _RUNS_THERE):
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in roots:
                yield node.lineno, node.attr


def _list_roots(tree: ast.Module) -> Iterator[str]:
    """List the names of these libraries' modules in the file, and ours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = (it for it in node.names if it.name.partition(".")[0] in (*_PACKAGES, _OURS))
            yield from (it.asname or it.name.partition(".")[0] for it in found)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _PACKAGES:
            yield from (it.asname or it.name for it in node.names if it.name.islower() and it.name not in _UNMET)


def _list_modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _list_spans(tree: ast.Module, tools: Iterable[CompiledTool]) -> Iterator[range]:
    """List the lines of these tools: functions by their first line, classes by name."""
    places = {tool.source.rpartition(":")[2] for tool in tools} | {tool.source.rpartition(".")[2] for tool in tools}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min(it.lineno for it in (node, *node.decorator_list))
            if str(first) in places or (isinstance(node, ast.ClassDef) and node.name in places):
                yield range(first, (node.end_lineno or first) + 1)


def _is_use(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _is_hosted_shell(node: ast.AST, imported: Mapping[str, str]) -> TypeGuard[ast.Call]:
    """Return whether a call declares a hosted shell; the default is a local one."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    said = {keyword.arg for keyword in node.keywords}
    return imported.get(node.func.id) == "ShellTool" and "environment" in said and "executor" not in said


def _list_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """List the local names of missing imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _PACKAGES:
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names if alias.name in _UNMET)
