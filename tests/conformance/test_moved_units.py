"""Unit tests that were written for LangChain pass once their import lines are changed."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent / "moved/units"
_IMPORTS = re.compile(r"^from (?:langchain|langchain_core|langgraph)(?:\.\w+)* import", re.M)


def load(name: str, text: str, file: str) -> dict[str, Any]:
    """Run a file's text as a module of this name."""
    module = sys.modules[name] = ModuleType(name)
    exec(compile(text, file, "exec"), vars(module))
    return vars(module)


MODULES = {
    (path.stem, way): load(f"units_{path.stem}_{way}", text, str(path))
    for path in sorted(HERE.glob("*.py"))
    for way, text in (
        ("original", path.read_text()),
        ("moved", _IMPORTS.sub("from sidecall import", path.read_text())),
    )
}
TESTS = [(*key, name) for key, module in MODULES.items() for name in module if name.startswith("test_")]


@pytest.mark.parametrize(("file", "way", "test"), TESTS)
def test_a_moved_unit_test_passes(file: str, way: str, test: str) -> None:
    """As it does with the package it was written for."""
    MODULES[file, way][test]()
