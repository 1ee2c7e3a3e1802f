"""A process runs the code that the server has loaded, no matter what has become of the files since."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from sidecall import Registry
from sidecall.features.processes.code import open_code, read_code, take_code
from sidecall.features.processes.executor import ProcessExecutor
from sidecall.kernel.core.tool import CompiledTool
from sidecall.loading.collect import TOOLS_OF
from sidecall.loading.discovery import discover
from sidecall.loading.file_watcher import reload_tools
from sidecall.loading.modules.loading import load_afresh
from tests.kernel.executors.conftest import answering
from tests.kit.projects import write

TOOLS = '''import os
from _shared import WORD
from .parts.inner import INNER
from acme.settings import NUMBER
from sidecall import StructuredTool, tool


@tool(executor="process")
def say() -> str:
    """Say what was loaded."""
    return f"{{WORD}} {{INNER}} {{NUMBER}} {answer}"


@tool(executor="process")
def die() -> None:
    """End the process."""
    os._exit(1)


elsewhere = StructuredTool.from_function(os.getcwd, name="elsewhere", description="Say.", executor="process")
'''
# What is done to the files, one after the other; all of it leaves what was loaded.
EDITS: dict[str, Callable[[Path], object]] = {
    "edited": lambda here: write(here / "box/mine.py", TOOLS.format(answer="second")),
    "broken": lambda here: write(here / "box/mine.py", "def broken(:"),
    "sibling edited": lambda here: write(here / "box/_shared.py", 'WORD = "other"'),
    "sibling deleted": lambda here: (here / "box/_shared.py").unlink(),
    "part edited": lambda here: write(here / "box/parts/inner.py", "raise SystemExit"),
    "project's module edited": lambda here: write(here / "acme/settings.py", "NUMBER = 2"),
    "project's module deleted": lambda here: shutil.rmtree(here / "acme"),
    "new file that is broken": lambda here: write(here / "box/later.py", "def broken(:"),
    "file deleted": lambda here: (here / "box/mine.py").unlink(),
    "folder deleted": lambda here: shutil.rmtree(here / "box"),
}


def write_project(here: Path) -> None:
    """Write tools that import what lies beside, below and elsewhere in the project."""
    write(here / "box/mine.py", TOOLS.format(answer="first"))
    write(here / "box/_shared.py", 'WORD = "word"')
    write(here / "box/parts/inner.py", 'INNER = "inner"')
    write(here / "acme/__init__.py")
    write(here / "acme/settings.py", "NUMBER = 1")


Project = tuple[Path, ProcessExecutor, Registry]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Load the tools once, and start a process."""
    here = tmp_path_factory.mktemp("project")
    write_project(here)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setattr(sys, "path", [*sys.path])
        registry = Registry(discover(["box"]))
        executor = ProcessExecutor(1, TOOLS_OF)
        asyncio.run(executor.start(registry))
        yield here, executor, registry
        asyncio.run(executor.close())
        for name in [name for name in sys.modules if "_box" in name or name.startswith(("acme", "box"))]:
            del sys.modules[name]


async def say(executor: ProcessExecutor, registry: Registry) -> object:
    """Call the tool in a process that is new."""
    answer = answering(executor)
    await answer(get(registry, "die"))
    return (await answer(get(registry, "say"))).content


def get(registry: Registry, name: str) -> CompiledTool:
    """Find a tool."""
    tool = registry.get(name)
    assert tool is not None
    return tool


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_a_new_process_runs_what_was_loaded(project: Project, edit: Callable[[Path], object]) -> None:
    """As a thread does, which holds it."""
    here, executor, registry = project
    edit(here)

    assert await say(executor, registry) == "word inner 1 first"


async def test_a_tool_is_found_that_its_functions_module_does_not_offer(project: Project) -> None:
    """Among what the server was told to offer, of which no file is left."""
    here, executor, registry = project
    shutil.rmtree(here / "box", ignore_errors=True)
    await answering(executor)(get(registry, "die"))

    assert (await answering(executor)(get(registry, "elsewhere"))).content == str(here)


@pytest.fixture
async def one() -> AsyncIterator[ProcessExecutor]:
    """One process."""
    executor = ProcessExecutor(1, TOOLS_OF)
    yield executor
    await executor.close()


async def test_after_a_reload_a_process_runs_what_the_listing_says(here: Path, one: ProcessExecutor) -> None:
    """The last good tools when a save is broken, the new ones when it is mended."""
    write_project(here)
    registry = Registry(discover(["box"]))
    await one.start(registry)
    said = [await say(one, registry)]
    (here / "box/_shared.py").unlink()
    (here / "box/mine.py").write_text("def broken(:")
    is_new = reload_tools(registry, ["box"], [here / "box"], use_entry_points=False)
    said.append(await say(one, registry))
    write_project(here)
    (here / "box/mine.py").write_text(TOOLS.format(answer="mended"))
    reload_tools(registry, ["box"], [here / "box"], use_entry_points=False)
    said.append(await say(one, registry))

    assert said == ["word inner 1 first", "word inner 1 first", "word inner 1 mended"]
    assert is_new is False


async def test_a_call_from_before_a_reload_does_not_bring_the_old_code_back(here: Path, one: ProcessExecutor) -> None:
    """It has waited, and runs what is listed by now; nobody's process is ended for it."""
    write_project(here)
    registry = Registry(discover(["box"]))
    await one.start(registry)
    old = get(registry, "say")
    (here / "box/mine.py").write_text(TOOLS.format(answer="second"))
    reload_tools(registry, ["box"], [here / "box"], use_entry_points=False)
    answer = answering(one)
    said = [(await answer(tool)).content for tool in (old, get(registry, "say"), old)]

    assert said == [f"word inner 1 {text}" for text in ("first", "second", "second")]


async def test_a_first_call_while_the_next_load_is_under_way_runs_what_is_listed(
    here: Path, one: ProcessExecutor
) -> None:
    """The modules are forgotten by then, and the processes have been told before."""
    write_project(here)
    registry = Registry(discover(["box"]))
    await one.start(registry)
    (here / "box/mine.py").write_text(TOOLS.format(answer="second"))
    reload_tools(registry, ["box"], [here / "box"], use_entry_points=False)
    one.follow(registry)

    with load_afresh([here / "box"]):
        said = await say(one, registry)

    assert said == "word inner 1 second"


def test_the_code_of_what_is_installed_is_not_kept(here: Path) -> None:
    """Nor Python's own, nor ours: the file of a process is as small as the project."""
    write_project(here)
    discover(["box"])
    code = take_code()

    assert b"acme.settings" in code
    assert b"pydantic.main" not in code
    assert b"sidecall.kernel.registry" not in code


def test_code_is_read_as_it_was_written() -> None:
    """By two at once, neither of whom moves the other on."""
    written = bytes(range(256)) * 10_000
    fd = open_code(written)
    twin = os.dup(fd)

    assert [read_code(fd), read_code(twin)] == [written, written]
