"""With --reload a server follows the files of its tools."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Serve
from tests.kit.servers import CLIENT, Server

TOOL = 'from sidecall import tool\n\n\n@tool\ndef {name}() -> str:\n    """Answer."""\n    return "{answer}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Hold one tool."""
    (tmp_path / "box").mkdir()
    (tmp_path / "box/mine.py").write_text(TOOL.format(name="ask", answer="one"))
    return tmp_path / "box"


@pytest.fixture
def server(start_server: Serve, folder: Path) -> Server:
    """Serve the folder, and wait until it is watched."""
    server = start_server("--reload", "--tools", "box", cwd=folder.parent)
    server.wait_for("watching")
    return server


def ask(server: Server) -> str:
    """Call the tool."""
    response = CLIENT.post(f"{server.url}/tool_calls", json={"name": "ask", "args": {}})
    return str(response.json()["content"])


def names(server: Server) -> list[str]:
    """List the tools."""
    return [definition["function"]["name"] for definition in CLIENT.get(f"{server.url}/tools").json()]


def test_a_tool_is_changed_broken_and_mended(server: Server, folder: Path) -> None:
    """The last good one serves all the time, and the log says what to mend."""
    file = folder / "mine.py"

    file.write_text(TOOL.format(name="ask", answer="two"))
    server.wait_for('"reloaded: ask"')
    changed = ask(server)
    file.write_text("def broken(:")
    server.wait_for(f"the tools were not reloaded, the last good ones still serve: {file}:1 cannot be loaded")
    broken = ask(server)
    file.write_text(TOOL.format(name="ask", answer="mended") + TOOL.format(name="other", answer=""))
    server.wait_for('"reloaded: ask, other"')
    mended = ask(server)

    assert (changed, broken, mended) == ("two", "two", "mended")


def test_a_new_file_is_found(server: Server, folder: Path) -> None:
    """And its tools are listed under another tag."""
    before = CLIENT.get(f"{server.url}/tools").headers["ETag"]

    (folder / "another.py").write_text(TOOL.format(name="another", answer=""))
    server.wait_for('"reloaded: another, ask"')
    response = CLIENT.get(f"{server.url}/tools", headers={"If-None-Match": before})

    assert response.status_code == 200
    assert names(server) == ["another", "ask"]


def test_a_file_that_goes_takes_its_tools_along(server: Server, folder: Path) -> None:
    """The rest stays."""
    (folder / "another.py").write_text(TOOL.format(name="another", answer=""))
    server.wait_for('"reloaded: another, ask"')
    (folder / "mine.py").unlink()
    server.wait_for('"reloaded: another"')

    assert names(server) == ["another"]


def test_what_a_tool_imports_is_followed_too(server: Server, folder: Path) -> None:
    """A module beside it, and one in a folder below."""
    (folder / "_parts").mkdir()
    (folder / "_parts/words.py").write_text('WORD = "first"\n')
    (folder / "mine.py").write_text(
        "from _parts.words import WORD\n" + TOOL.format(name="ask", answer="").replace('return ""', "return WORD")
    )
    server.wait_for('"reloaded: ask"')
    first = ask(server)
    (folder / "_parts/words.py").write_text('WORD = "other"\n\n\n# changed\n')
    (folder / "another.py").write_text(TOOL.format(name="another", answer=""))
    server.wait_for('"reloaded: another, ask"')

    assert (first, ask(server)) == ("first", "other")


def test_a_toolkit_that_fails_does_not_end_the_watch(server: Server, folder: Path) -> None:
    """Mended, its tools are offered without a restart."""
    (folder / "kits.py").write_text(
        "from sidecall import BaseToolkit\n\n\nclass Kit(BaseToolkit):\n    def get_tools(self):\n"
        '        raise KeyError("API_KEY")\n\n\nkit = Kit()\n'
    )
    server.wait_for("KeyError: 'API_KEY'")
    (folder / "kits.py").write_text(TOOL.format(name="mended", answer=""))
    server.wait_for('"reloaded: mended, ask"')

    assert names(server) == ["mended", "ask"]


def test_a_watching_server_stops_in_order(server: Server) -> None:
    """The watch ends with it."""
    code = server.stop()

    assert code == 0
    server.wait_for("Application shutdown complete.")
    assert "Traceback" not in server.log


def test_calls_go_on_while_a_file_is_loaded(server: Server, folder: Path) -> None:
    """However long its import takes; all tools are new at once, when it is done."""
    (folder / "other.py").write_text(TOOL.format(name="other", answer=""))
    go_on = folder.parent / "go on"
    (folder / "slow.py").write_text(
        f"import os, sys, time\n\nsys.stderr.write('loading\\n')\nwhile not os.path.exists({str(go_on)!r}):\n"
        "    time.sleep(0.01)\n" + TOOL.format(name="slow", answer="")
    )
    (folder / "mine.py").write_text(TOOL.format(name="ask", answer="two"))
    server.wait_for("loading")

    during = [(ask(server), "slow" in names(server)) for _ in range(3)]
    go_on.touch()
    server.wait_for('"reloaded: ask, other, slow"')

    assert during == [("one", False)] * 3
    assert ask(server) == "two"


def test_a_file_that_hangs_does_not_hold_up_the_end(server: Server, folder: Path) -> None:
    """Nobody waits for a load that nobody needs any more."""
    (folder / "slow.py").write_text("import sys, time\n\nsys.stderr.write('loading\\n')\ntime.sleep(600)\n")
    server.wait_for("loading")

    assert server.stop() == 0
    assert "Traceback" not in server.log
