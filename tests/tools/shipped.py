"""The tools that ship, loaded by their path as the server loads them."""

from pathlib import Path
from types import ModuleType

from sidecall.loading.modules.loading import load_file

FOLDER = Path(__file__).parents[2] / "tools"


def load(name: str) -> ModuleType:
    """Load one of their files."""
    return load_file(FOLDER / f"{name}.py")
