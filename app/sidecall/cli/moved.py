"""Find what a file that was written for another library asks for and no server of tools can give."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeGuard

from sidecall.core.tool import CompiledTool
from sidecall.names_elsewhere import LOCAL_TOOLS, NOT_HERE
from sidecall.schema.lint import Finding

# What runs here as well, made of LangChain's own.
_RUNS_HERE = frozenset(("Runnable", "RunnableLambda"))
_UNMET = {name: text for name, text in {**NOT_HERE, **LOCAL_TOOLS}.items() if name not in _RUNS_HERE}
# Where installed packages lie, which are no part of what their user writes.
_INSTALLED = frozenset(("site-packages", "dist-packages"))
_PACKAGES = ("langchain", "langchain_core", "langgraph", "agents")


def find_unmet(tools: Iterable[CompiledTool]) -> list[Finding]:
    """Name each line in the files of these tools that uses what there is only inside a running graph or agent."""
    files = {path.resolve(): None for tool in tools if (path := _find_file(tool)) is not None}
    return [finding for path in files if _INSTALLED.isdisjoint(path.parts) for finding in _read(path)]


def _find_file(tool: CompiledTool) -> Path | None:
    place, _, line = tool.source.rpartition(":")
    if line.isdigit():
        return Path(place)
    module = sys.modules.get(tool.source.rpartition(".")[0])
    file = getattr(module, "__file__", None)
    return Path(file) if file else None


def _read(path: Path) -> Iterator[Finding]:
    try:
        tree = ast.parse(path.read_text())
    except (OSError, SyntaxError, ValueError):
        return
    imported = dict(_list_imports(tree))
    hosted = {id(node.func) for node in ast.walk(tree) if _is_hosted_shell(node, imported)}
    names = [node for node in ast.walk(tree) if _is_use(node) and node.id in imported and id(node) not in hosted]
    used = {(node.lineno, imported[node.id]) for node in names}
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    for line, name in sorted(used):
        yield Finding(f"{shown}:{line}", "warning", f"uses {name}, which is not here: {_UNMET[name]}")


def _is_use(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _is_hosted_shell(node: ast.AST, imported: Mapping[str, str]) -> TypeGuard[ast.Call]:
    """Return whether a call declares a shell that a provider runs; without a word of where, it is a local one."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    said = {keyword.arg for keyword in node.keywords}
    return imported.get(node.func.id) == "ShellTool" and "environment" in said and "executor" not in said


def _list_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """List the names under which the file knows what it cannot have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _PACKAGES:
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names if alias.name in _UNMET)
