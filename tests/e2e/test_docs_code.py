"""The code in README and docs runs as it stands there, and prints what stands below it."""

import contextlib
import fnmatch
import gc
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from anthropic import Anthropic
from markdown_it import MarkdownIt
from openai import OpenAI

from bench.environments import ROOT
from sidecall.client import Sidecall
from tests.e2e.conftest import Serve
from tests.e2e.models import running_models
from tests.kit.servers import Server

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ADDRESS = "http://127.0.0.1:8000"
# As a command in the text, or as a line of a fence.
_STARTS = re.compile(r"(?:^|`)sidecall serve((?: --tools (?:\w+\.py|sidecall))+)", re.MULTILINE)
CLIENTS = (Anthropic, OpenAI, Sidecall, httpx.Client)


@dataclass(frozen=True)
class Block:
    """One fence of a document, and the output that the document promises."""

    language: str
    code: str
    output: str | None


def blocks(document: Path) -> list[Block]:
    """Read the fences that are meant to run."""
    fences = [token for token in MarkdownIt().parse(document.read_text()) if token.type == "fence"]
    following = [*fences[1:], None][: len(fences)]
    return [
        Block(fence.info, fence.content, after.content if after is not None and after.info == "text" else None)
        for fence, after in zip(fences, following, strict=True)
        if fence.info in ("python", "bash")
    ]


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    """A provider whose model asks for the calculator."""
    with running_models() as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: str) -> Path:
    """An empty folder to work in, with the environment that the examples read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{models}/v1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", models)
    return tmp_path


@pytest.fixture
def server(document: Path, folder: Path, shipped: Server, start_server: Serve) -> Server:
    """The server that the page tells its reader to start; else the one with the tools that ship."""
    started = _STARTS.search(document.read_text())
    if started is None:
        return shipped
    arguments = started[1].split()
    for file in (name for name in arguments if name.endswith(".py")):
        (folder / file).write_text(next(block.code for block in blocks(document) if file in block.code))
    return start_server(*arguments, cwd=folder)


@pytest.mark.filterwarnings("default")  # the SDKs' own
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_code_in_documents_runs(document: Path, folder: Path, server: Server) -> None:
    """A reader who pastes it gets what the page says; the server's address is put in."""
    namespace: dict[str, object] = {"__name__": "document"}
    left: list[object] = []

    for block in blocks(document):
        printed = run(block.language, block.code.replace(ADDRESS, server.url), folder, namespace)
        expected = (block.output or "*").replace("[", "[[]").replace("…", "*").strip()
        assert fnmatch.fnmatchcase(printed.strip(), expected), f"{block.code}\nprinted:\n{printed}"
        left += namespace.values()
    # The examples leave their clients to the end of the program; that is now, not in the middle of another test.
    [client.close() for client in left if isinstance(client, CLIENTS)]
    left.clear()
    namespace.clear()
    gc.collect()


def run(language: str, code: str, folder: Path, namespace: dict[str, object]) -> str:
    """Run one block and return what it prints; a first line such as `# my_tools.py` names the file it is."""
    if language == "bash":
        return subprocess.run(["bash", "-euc", code], cwd=folder, check=True, capture_output=True, text=True).stdout
    first = code.partition("\n")[0].removeprefix("# ")
    if first.endswith(".py"):
        (folder / first).write_text(code)
    if first.startswith("test_"):
        return ""  # pytest runs it, by a command that follows
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, first, "exec"), namespace)
    return printed.getvalue()
