"""The code of a project's modules is kept as it was loaded."""

import importlib
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from sidecall.loading.modules.loading import add_project
from sidecall.loading.modules.source_snapshot import KeepingLoader, code_of
from tests.kit.projects import write


@pytest.fixture(autouse=True)
def project(here: Path) -> Path:
    """Work in a project."""
    add_project()
    return here


def test_the_file_is_read_once(project: Path) -> None:
    """What runs and what is kept are the same object."""
    file = write("plain.py", "VALUE = 1\n")
    module = importlib.import_module("plain")
    file.unlink()
    code = code_of(module)

    assert code is not None
    assert code.co_filename == str(file)
    assert code_of(module) is code


def test_loaded_again_a_file_is_read_again(project: Path) -> None:
    """Each load keeps its own."""
    write("plain.py", "VALUE = 1\n")
    module = importlib.import_module("plain")
    before = code_of(module)
    write("plain.py", "VALUE = 'longer'\n")
    importlib.reload(module)

    assert module.VALUE == "longer"
    assert code_of(module) is not before


@pytest.mark.parametrize(
    "name",
    ["json.decoder", "httpx", "sidecall.kernel.registry", "sys"],
    ids=["standard", "installed", "ours", "built in"],
)
def test_what_is_not_the_projects_is_not_kept(name: str) -> None:
    """It does not change while a server runs."""
    assert code_of(importlib.import_module(name)) is None


def test_what_was_loaded_before_is_known_as_it_is_now(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By who starts a server in a program of his own; a file that is gone has none."""
    monkeypatch.setattr(sys, "meta_path", [it for it in sys.meta_path if "sidecall" not in type(it).__module__])
    file = write("early.py", "VALUE = 1\n")
    module = importlib.import_module("early")
    known = code_of(module)
    file.unlink()
    cached = Path(importlib.util.cache_from_source(str(file)))
    cached.unlink(missing_ok=True)

    assert not isinstance(module.__loader__, KeepingLoader)
    assert known is not None
    assert code_of(module) is None


def test_others_who_load_files_in_their_own_way_come_first() -> None:
    """As pytest does with tests."""
    names = [finder.__name__ if isinstance(finder, type) else type(finder).__name__ for finder in sys.meta_path]

    assert names.index("AssertionRewritingHook") < names.index("_ProjectFinder")
    assert sys.meta_path[names.index("_ProjectFinder") + 1] is PathFinder
