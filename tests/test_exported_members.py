"""What authors import from `sidecall` is listed, whole and in order, and loaded when it is asked for."""

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import sidecall

STUB = Path(str(sidecall.__file__)).with_suffix(".pyi")


def run(program: str) -> str:
    """Run a program in a process of its own, where nobody else has imported anything."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout


def test_all_is_sorted() -> None:
    """As ruff sorts it: by plain string order."""
    assert list(sidecall.__all__) == sorted(sidecall.__all__)


def test_the_stub_says_what_is_loaded() -> None:
    """Name by name from the same modules, so that type checkers and Python see one thing."""
    tree = ast.parse(STUB.read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    [listed] = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]

    assert homes.pop("__version__") == "sidecall.version"
    assert homes == sidecall._HOMES  # type: ignore[attr-defined]
    assert listed == sidecall.__all__


@pytest.mark.parametrize("name", sidecall.__all__)
def test_every_name_is_documented(name: str) -> None:
    """An editor shows it to the author."""
    assert getattr(sidecall, name).__doc__


@pytest.mark.parametrize("name", sidecall.__all__)
def test_every_name_is_the_one_of_its_module(name: str) -> None:
    """So that `isinstance` and pickles hold wherever it was imported from."""
    value = getattr(sidecall, name)

    assert getattr(sidecall, name) is value
    if isinstance(value, type | FunctionType):
        assert getattr(importlib.import_module(value.__module__), value.__name__) is value


def test_a_star_imports_all() -> None:
    """And nothing else."""
    program = (
        "from sidecall import *; print(sorted(name for name in globals() if name in __import__('sidecall').__all__))"
    )

    assert ast.literal_eval(run(program)) == list(sidecall.__all__)


def test_dir_lists_what_was_not_loaded_yet() -> None:
    """For anyone who looks around in a shell."""
    listed = ast.literal_eval(run("import sidecall; print(dir(sidecall))"))

    assert set(sidecall.__all__) <= set(listed)
    assert listed == sorted(listed)


def test_a_message_can_be_pickled() -> None:
    """It comes back equal, as a message."""
    message = sidecall.ToolMessage(content="hi", tool_call_id="call_1")

    again = pickle.loads(pickle.dumps(message))

    assert again == message
    assert isinstance(again, sidecall.ToolMessage)


def test_a_name_that_is_not_there_is_named() -> None:
    """With the one that was likely meant."""
    with pytest.raises(AttributeError, match=r"^tools is not in sidecall: did you mean tool\?$"):
        sidecall.tools  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match=r"^tool_ is not in sidecall: did you mean tool\?$"):
        exec("from sidecall import tool_", {})


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        pytest.param("import sidecall", ("pydantic", "sidecall.kernel.core"), id="nothing"),
        pytest.param(
            "import sidecall.kernel.core.errors",
            ("sidecall.authoring", "sidecall.compiler", "sidecall.kernel.pipeline", "fastapi"),
            id="core",
        ),
        pytest.param(
            "from sidecall import tool",
            ("sidecall.cli", "sidecall.main", "sidecall.rest", "sidecall.server", "fastapi", "uvicorn", "typer"),
            id="authoring",
        ),
    ],
)
def test_only_what_is_needed_is_loaded(statement: str, unwanted: tuple[str, ...]) -> None:
    """A tool's tests and an agent's program start without the server."""
    loaded = ast.literal_eval(run(f"{statement}; import sys; print(list(sys.modules))"))

    assert [name for name in loaded if name in unwanted or name.startswith(tuple(f"{it}." for it in unwanted))] == []
