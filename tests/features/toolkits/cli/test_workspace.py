"""`sidecall workspace` sees, fetches, sends and deletes the files of a conversation."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from tests.kit.forked import origin
from tests.kit.projects import tool_file, write
from tests.kit.servers import end, start

__all__ = ["origin"]


@pytest.fixture
def url(here: Path, origin: None) -> Iterator[str]:
    """Start a server in an empty folder, and give its address."""
    write("tools/a.py", tool_file("mine"))
    running = start(here, "--tools", "tools", environment={})
    yield running.url
    end(running.process)


def test_files_are_sent_listed_fetched_and_deleted(url: str, tmp_path: Path) -> None:
    """By the path that models know, or a shorter one."""
    (tmp_path / "in.csv").write_bytes(b"a,b\n")

    def run(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli, ["workspace", *words, "--url", url])
        return result.exit_code, result.stdout if result.exit_code == 0 else str(result.exception)

    assert run("put", "a chat", "in.csv") == (0, "/workspace/in.csv\n")
    assert run("put", "a chat", "in.csv", "x/y.csv") == (0, "/workspace/x/y.csv\n")
    assert [it["path"] for it in json.loads(run("ls", "a chat", "--json")[1])] == [
        "/workspace/in.csv", "/workspace/x/y.csv",
    ]  # fmt: skip
    assert "/workspace/x/y.csv  4 bytes  user" in run("ls", "a chat")[1]
    assert run("get", "a chat", "/workspace/x/y.csv", "-o", "-") == (0, "a,b\n")
    assert run("get", "a chat", "x/y.csv") == (0, "")
    assert (tmp_path / "y.csv").read_bytes() == b"a,b\n"
    assert run("get", "a chat", "x/y.csv") == (
        1, "There is a file 'y.csv' here already. Say where to write it with --output.",
    )  # fmt: skip
    assert run("put", "a chat", "nowhere") == (1, "There is no file 'nowhere'.")
    assert run("rm", "a chat") == (1, "Name a file, or remove all of them with --all.")
    assert run("rm", "a chat", "in.csv") == (0, "")
    assert "no such file" in run("get", "a chat", "in.csv", "-o", "-")[1]
    assert run("rm", "a chat", "--all") == (0, "")
    assert run("ls", "a chat")[0] == 1
