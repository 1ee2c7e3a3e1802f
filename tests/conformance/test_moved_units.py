"""Unit tests that were written for LangChain pass once their import lines are changed."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FILE = Path(__file__).parent / "moved/units/docs_style.py"
_IMPORTS = re.compile(r"^from (?:langchain|langchain_core|langgraph)(?:\.\w+)* import", re.M)
TEXT = FILE.read_text()


def load(name: str, text: str) -> dict[str, Any]:
    """Run the file's text as a module of this name."""
    module = sys.modules[name] = ModuleType(name)
    exec(compile(text, str(FILE), "exec"), vars(module))
    return vars(module)


MODULES = {
    "original": load("units_original", TEXT),
    "moved": load("units_moved", _IMPORTS.sub("from sidecall import", TEXT)),
}


@pytest.mark.parametrize("test", [name for name in MODULES["original"] if name.startswith("test_")])
@pytest.mark.parametrize("way", MODULES)
def test_a_moved_unit_test_passes(way: str, test: str) -> None:
    """As it does with the package it was written for."""
    MODULES[way][test]()
