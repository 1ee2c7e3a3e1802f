"""The limits this code base keeps: sizes, imports, layers."""

import ast
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for folder in ("app", "tools", "examples", "bench") for path in (ROOT / folder).rglob("*.py"))
RECORDED = ("_cases.py", "_compare.py")  # of other systems, kept as they were recorded
TESTS = sorted(path for path in (ROOT / "tests").rglob("*.py") if not path.name.endswith(RECORDED))
EVERYTHING = [*SOURCES, *TESTS]
MAX_LINES = 300
MAX_BODY = 30


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@dataclass(frozen=True)
class Outline:
    """Hold what the limits are about; the trees of all files would fill the memory."""

    lines: int
    bodies: list[tuple[str, int]]
    imports_inside: list[int]
    imports: list[ast.Import | ast.ImportFrom]
    names: set[str]


@cache
def _outline(path: Path) -> Outline:
    text = path.read_text()
    nodes = list(ast.walk(ast.parse(text)))
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return Outline(
        lines=len(text.splitlines()),
        bodies=[(function.name, _body_lines(function)) for function in functions],
        imports_inside=[node.lineno for function in functions for node in _imports_in(ast.walk(function))],
        imports=_imports_in(nodes),
        names={node.id for node in nodes if isinstance(node, ast.Name)},
    )


def _imports_in(nodes: Iterable[ast.AST]) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body and body[-1].end_lineno else 0


@pytest.mark.parametrize("path", EVERYTHING, ids=_name)
def test_no_file_is_longer_than_300_lines(path: Path) -> None:
    """A longer file holds two ideas."""
    assert _outline(path).lines <= MAX_LINES


@pytest.mark.parametrize("path", EVERYTHING, ids=_name)
def test_no_function_body_is_longer_than_30_lines(path: Path) -> None:
    """Docstrings do not count."""
    assert [(name, lines) for name, lines in _outline(path).bodies if lines > MAX_BODY] == []


@pytest.mark.parametrize("path", EVERYTHING, ids=_name)
def test_imports_stand_at_the_top_and_count_at_run_time(path: Path) -> None:
    """An import inside a function or under TYPE_CHECKING hides a cycle."""
    assert _outline(path).imports_inside == []
    assert "TYPE_CHECKING" not in _outline(path).names


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path, modules: set[str]) -> set[str]:
    found: set[str] = set()
    for node in _outline(path).imports:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & modules


def test_no_modules_import_each_other_in_a_circle() -> None:
    """The graph of imports has an order."""
    modules = {_module(path) for path in SOURCES}
    graph = {_module(path): _imports(path, modules) for path in SOURCES}

    order = list(TopologicalSorter(graph).static_order())

    assert set(order) == modules


@pytest.mark.parametrize("path", [path for path in SOURCES if path.is_relative_to(ROOT / "app")], ids=_name)
def test_nobody_inside_app_imports_its_root(path: Path) -> None:
    """The root is for tool authors; it imports everything and would make a circle."""
    named = {
        node.module if isinstance(node, ast.ImportFrom) else alias.name
        for node in _outline(path).imports
        for alias in node.names
    }

    assert "app" not in named


def test_the_layers_are_kept() -> None:
    """Imports point downward only, as pyproject.toml says."""
    linter = Path(sys.executable).parent / "lint-imports"

    result = subprocess.run([linter, "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert "0 broken" in result.stdout, result.stdout
