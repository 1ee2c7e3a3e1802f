"""Find the line of a module that defines a name."""

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


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
