"""Sidecall, installed from a wheel, in a project that has an `app`, `tools`, `shared` and `tests` of its own."""

import json
import os
import subprocess
import zipfile
from pathlib import Path

import httpx
import pytest

from sidecall.version import __version__
from tests.e2e.conftest import Serve

FILES = {
    "app/__init__.py": "",
    "app/orders.py": """
from shared.prices import PRICES


def find(name: str) -> str:
    return f"{name}: {PRICES[name]}"
""",
    "shared/__init__.py": "",
    "shared/prices.py": 'PRICES = {"tea": 3}\n',
    "tests/__init__.py": "",
    "secrets.py": "raise RuntimeError('taken for the one of the standard library')\n",
    "tools/__init__.py": "",
    "tools/_words.py": 'GREETING = "hello"\n',
    "tools/orders.py": '''
from app.orders import find
from sidecall import tool
from tools._words import GREETING

from ._words import GREETING as AGAIN
import _words

assert GREETING is AGAIN is _words.GREETING


@tool
def find_order(name: str) -> str:
    """Find an order."""
    return find(name)


@tool(executor="process")
def greet(name: str) -> str:
    """Greet from a process."""
    from _words import GREETING as once_more

    return f"{once_more} {find(name)}"
''',
}


@pytest.fixture(scope="module")
def python(installed_python: str) -> str:
    """The one that has it from the wheel."""
    return installed_python


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out a project as people have them."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder


def sidecall(python: str, *arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed program."""
    return run([str(Path(python).parent / "sidecall"), *arguments], cwd, **environment)


def run(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, and expect that it works."""
    settings = {**{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, **environment}
    done = subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_a_wheel_holds_one_package(wheel: Path) -> None:
    """Beside what describes it; the tools that ship travel in it."""
    files = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in files}

    assert {name for name in top if not name.endswith(".dist-info")} == {"sidecall"}
    assert {name for name in files if name.startswith("sidecall/tools")} == {
        f"sidecall/tools.d/{name}.py"
        for name in (
            "calculator",
            "clock",
            "fetch",
            "file_search",
            "files",
            "files_read_only",
            "images",
            "python",
            "shell",
            "tavily",
        )
    }
    assert {"sidecall/py.typed", "sidecall/__init__.pyi"} <= set(files)


def test_the_environment_has_it_from_the_wheel(python: str, project: Path) -> None:
    """And neither `app` nor `tools` but the project's."""
    program = "import sidecall, app, tools; print(sidecall.__file__, app.__file__, tools.__file__, sep='\\n')"

    installed, *own = run([python, "-c", program], project).stdout.splitlines()

    assert installed.startswith(str(Path(python).parents[1]))
    assert own == [str(project / "app/__init__.py"), str(project / "tools/__init__.py")]


def test_it_starts_as_a_module(python: str, project: Path) -> None:
    """As by its name, which the tests below do."""
    assert run([python, "-m", "sidecall", "--version"], project).stdout == f"sidecall {__version__}\n"


@pytest.mark.parametrize("starter", ["sidecall", "-m"])
def test_a_path_of_imports_that_names_the_project_does_no_harm(python: str, project: Path, starter: str) -> None:
    """Neither its `app` nor its `secrets.py` is taken for another one."""
    arguments = ["tools", "--format", "json_schema"]
    environment = {"PYTHONPATH": "."}

    if starter == "-m":
        listed = run([python, "-m", "sidecall", *arguments], project, **environment)
    else:
        listed = sidecall(python, *arguments, cwd=project, **environment)

    assert [schema["title"] for schema in json.loads(listed.stdout)] == ["find_order", "greet"]


def test_what_ships_is_served_where_there_are_no_tools(python: str, tmp_path: Path) -> None:
    """By every command."""
    message = json.loads(sidecall(python, "call", "calculator", "expression=6*7", cwd=tmp_path).stdout)

    assert message["content"] == "42"


def ask(url: str, name: str) -> str:
    """Call a tool of the project."""
    # Workers listen a moment after the log says so; connecting is tried again until they do.
    with httpx.Client(base_url=url, transport=httpx.HTTPTransport(retries=8)) as client:
        return str(client.post("/tool_calls", json={"name": name, "args": {"name": "tea"}}).json()["content"])


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one", "workers"])
def test_the_projects_tools_are_served(
    start_server: Serve, python: str, project: Path, options: tuple[str, ...]
) -> None:
    """They import the project's modules and each other, in the server and in processes of tools."""
    server = start_server(*options, cwd=project, python=python)

    answers = [ask(server.url, name) for name in ("find_order", "greet")]

    assert answers == ["tea: 3", "hello tea: 3"]
    assert server.stop() == 0


def test_reloaded_tools_keep_their_imports(start_server: Serve, python: str, project: Path) -> None:
    """What lies beside a tool is loaded again with it, in processes too."""
    server = start_server("--reload", cwd=project, python=python)
    server.wait_for("watching")
    words = project / "tools/_words.py"
    text = words.read_text()

    try:
        words.write_text('GREETING = "good day"\n')
        server.wait_for('"reloaded: find_order, greet"')
        answers = [ask(server.url, name) for name in ("find_order", "greet")]
    finally:
        words.write_text(text)

    assert answers == ["tea: 3", "good day tea: 3"]
    assert server.stop() == 0
