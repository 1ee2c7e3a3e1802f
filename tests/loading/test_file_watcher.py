"""Tools are loaded again when their files change, and the last good ones stay when they are broken."""

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sidecall import Registry
from sidecall.loading.discovery import discover
from sidecall.loading.file_watcher import follow_files, reload_tools
from tests.kit.projects import write

TOOL = 'from sidecall import tool\n\n\n@tool\ndef {name}() -> str:\n    """Answer."""\n    return "{name}"\n'


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def prepared(caplog: pytest.LogCaptureFixture) -> None:
    """Keep the log lines."""
    caplog.set_level(logging.INFO, "sidecall")


class Lines(logging.Handler):
    """Log lines that a test can wait for; `when` says what happens at the moment of one that begins with a word."""

    def __init__(self) -> None:
        super().__init__()
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self.when: dict[str, Callable[[], object]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        line = record.getMessage()
        self.when.pop(line.partition(" ")[0], lambda: None)()
        self._queue.put_nowait(line)

    async def next(self) -> str:
        """Wait for the next line."""
        async with asyncio.timeout(20):
            return await self._queue.get()


@pytest.fixture
def lines() -> Iterator[Lines]:
    """Listen to the log."""
    handler = Lines()
    logging.getLogger("sidecall").addHandler(handler)
    yield handler
    logging.getLogger("sidecall").removeHandler(handler)


def test_changed_tools_are_offered(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In one step, under a new version."""
    file = here / "mine.py"
    file.write_text(TOOL.format(name="one"))
    registry = Registry(discover(["mine.py"]))
    file.write_text(TOOL.format(name="two"))

    is_new = reload_tools(registry, ["mine.py"], [here], use_entry_points=False)

    assert is_new is True
    assert registry.names == ["two"]
    assert registry.version == 2
    assert caplog.messages == ["reloaded: two"]


def test_a_file_without_tools_offers_none(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    """That is no mistake."""
    file = here / "mine.py"
    file.write_text(TOOL.format(name="one"))
    registry = Registry(discover(["mine.py"]))
    file.write_text("")

    reload_tools(registry, ["mine.py"], [here], use_entry_points=False)

    assert registry.names == []
    assert caplog.messages[-1] == "reloaded: no tools"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def x(:", "{here}/mine.py:1 cannot be loaded: SyntaxError: invalid syntax (mine.py, line 1)"),
        ("import nowhere", "{here}/mine.py:1 cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
        ("raise SystemExit", "{here}/mine.py:1 cannot be loaded: SystemExit: "),
        ("raise KeyboardInterrupt", "{here}/mine.py:1 cannot be loaded: KeyboardInterrupt: "),
        ("raise GeneratorExit", "{here}/mine.py:1 cannot be loaded: GeneratorExit: "),
        ("import asyncio\n\nraise asyncio.CancelledError", "{here}/mine.py:3 cannot be loaded: CancelledError: "),
        ("raise BaseException('mine')", "{here}/mine.py:1 cannot be loaded: BaseException: mine"),
        (
            "def __getattr__(name):\n    raise KeyboardInterrupt(name)\n\n\n__all__ = ['gone']\n",
            "last good ones still serve: KeyboardInterrupt: gone",
        ),
        (
            TOOL.format(name="one")
            + TOOL.format(name="one").replace("def one", "def two").replace("@tool", "@tool('one')"),
            "Two tools are called 'one': mine.py:4 and mine.py:11. Give one another name, for instance @tool('one_2').",
        ),
        (
            "from sidecall import BaseToolkit\n\n\nclass Kit(BaseToolkit):\n    def get_tools(self):\n"
            '        raise KeyError("API_KEY")\n\n\nkit = Kit()\n',
            "KeyError: 'API_KEY'",
        ),
    ],
    ids=[
        *("syntax", "import", "exit", "interrupt", "generator exit", "cancelled", "base", "attribute"),
        *("duplicate", "toolkit"),
    ],
)
def test_broken_tools_leave_the_last_good_ones(
    here: Path, caplog: pytest.LogCaptureFixture, text: str, complaint: str
) -> None:
    """The log says what to mend."""
    file = here / "mine.py"
    file.write_text(TOOL.format(name="one"))
    registry = Registry(discover(["mine.py"]))
    file.write_text(text)

    is_new = reload_tools(registry, ["mine.py"], [here], use_entry_points=False)

    assert is_new is False
    assert registry.names == ["one"]
    assert registry.version == 1
    assert caplog.messages[-1].startswith("the tools were not reloaded, the last good ones still serve: ")
    assert caplog.messages[-1].endswith(complaint.format(here=here))


def test_a_file_that_went_away_leaves_the_last_good_tools(here: Path) -> None:
    """Editors delete files before they write them anew."""
    file = here / "mine.py"
    file.write_text(TOOL.format(name="one"))
    registry = Registry(discover(["mine.py"]))
    file.unlink()

    is_new = reload_tools(registry, ["mine.py"], [here], use_entry_points=False)

    assert is_new is False
    assert registry.names == ["one"]


async def test_nothing_is_watched_unless_it_is_wanted(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Watching costs a thread."""
    async with follow_files(Registry(), [str(here)], False, enabled=False):
        await asyncio.sleep(0)

    assert caplog.messages == []


async def test_a_file_is_followed_through_good_and_bad(here: Path, lines: Lines) -> None:
    """Changed, broken, mended: each time without a restart."""
    file = here / "mine.py"
    file.write_text(TOOL.format(name="one"))
    registry = Registry(discover(["mine.py"]))

    async with follow_files(registry, ["mine.py"], False, enabled=True):
        assert await lines.next() == f"watching {here}"
        file.write_text(TOOL.format(name="two"))
        assert await lines.next() == "reloaded: two"
        file.write_text("def x(:")
        assert "not reloaded" in await lines.next()
        assert registry.names == ["two"]
        (why,) = registry.load_errors
        assert why.startswith(f"{file}:1 cannot be loaded: SyntaxError: ")
        file.write_text(TOOL.format(name="three"))
        assert await lines.next() == "reloaded: three"
        assert registry.load_errors == ()

    assert registry.names == ["three"]


async def test_a_new_file_in_a_folder_is_found(here: Path, lines: Lines) -> None:
    """The folder is watched, not its files."""
    (here / "box").mkdir()
    registry = Registry()

    async with follow_files(registry, ["box"], False, enabled=True):
        assert await lines.next() == f"watching {here}/box"
        (here / "box/mine.py").write_text(TOOL.format(name="one"))
        assert await lines.next() == "reloaded: one"

    assert registry.names == ["one"]


async def test_a_file_is_watched_once_the_log_says_so(here: Path, lines: Lines) -> None:
    """Also where it changes at that very moment."""
    file = write("mine.py", TOOL.format(name="one"))
    registry = Registry(discover(["mine.py"]))
    lines.when["watching"] = lambda: file.write_text(TOOL.format(name="two"))

    async with follow_files(registry, ["mine.py"], False, enabled=True):
        await lines.next()
        assert await lines.next() == "reloaded: two"


@pytest.mark.parametrize("pause", [0, 0.3], ids=["at once", "later"])
async def test_a_folder_that_is_removed_and_made_again_is_still_followed(
    here: Path, lines: Lines, pause: float
) -> None:
    """As when a branch is checked out; what ships does not take its place meanwhile."""
    file = write("tools/mine.py", TOOL.format(name="one"))
    registry = Registry(discover(["tools"]))

    async with follow_files(registry, ["tools"], False, enabled=True):
        await lines.next()
        shutil.rmtree(file.parent)
        await asyncio.sleep(pause)
        write(file, TOOL.format(name="two"))
        while await lines.next() != "reloaded: two":
            assert registry.names == ["one"]
        write(file, TOOL.format(name="three"))
        while await lines.next() != "reloaded: three":
            pass

    assert registry.names == ["three"]


async def test_a_file_that_raises_what_ends_programs_does_not_end_the_watch(here: Path, lines: Lines) -> None:
    """Mended, its tools are offered without a restart."""
    file = write("mine.py", TOOL.format(name="one"))
    registry = Registry(discover(["mine.py"]))

    async with follow_files(registry, ["mine.py"], False, enabled=True):
        await lines.next()
        for name in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"):
            file.write_text(f"raise {name}")
            assert await lines.next() == (
                f"the tools were not reloaded, the last good ones still serve: {file}:1 cannot be loaded: {name}: "
            )
        file.write_text(TOOL.format(name="mended"))
        assert await lines.next() == "reloaded: mended"


async def test_the_server_serves_without_a_folder_to_watch(lines: Lines) -> None:
    """When all tools come from installed packages, whose files do not change."""
    async with follow_files(Registry(), [], True, enabled=True):
        first = await lines.next()

    assert first.startswith("watching")
