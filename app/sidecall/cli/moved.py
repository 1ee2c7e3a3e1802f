"""Find what a file that was written for another library asks for and no server of tools can give."""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeGuard

from sidecall.core.tool import CompiledTool
from sidecall.names_elsewhere import NOT_HERE
from sidecall.schema.lint import Finding

_PACKAGES = ("langchain", "langchain_core", "langgraph", "agents")


def find_unmet(tools: Iterable[CompiledTool]) -> list[Finding]:
    """Name each line in the files of these tools that uses what there is only inside a running graph or agent."""
    files = {path.resolve(): None for tool in tools if (path := _find_file(tool)) is not None}
    return [finding for path in files for finding in _read(path)]


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
    used = {(node.lineno, imported[node.id]) for node in ast.walk(tree) if _is_use(node) and node.id in imported}
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    for line, name in sorted(used):
        yield Finding(f"{shown}:{line}", "warning", f"uses {name}, which is not here: {NOT_HERE[name]}")


def _is_use(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _list_imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """List the names under which the file knows what it cannot have."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _PACKAGES:
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names if alias.name in NOT_HERE)
