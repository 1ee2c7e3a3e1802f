"""The coding agents mend a failing test in a workspace, as real processes between a scripted model and a server."""

import os
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.e2e.scripted_coders import running_coders
from tests.executors.sandbox.machine import open_once
from tests.kit.calls import write_call
from tests.kit.servers import Server

TEST = """import unittest

from sums import total


class Sums(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
"""
FAILING = "def total(numbers):\n    return 0\n"


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve files and a shell in a sandbox, which may run Python without asking."""
    open_once()
    environment = {
        "SIDECALL_WORKSPACE_DIR": str(tmp_path_factory.mktemp("workspaces")),
        "SIDECALL_SHELL_ALLOW": "python3",
    }
    return start_server("--toolkit", "files", "--toolkit", "shell", **environment)


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    """Serve both models."""
    with running_coders() as url:
        yield url


def call(server: Server, conversation: str, name: str, **args: str) -> str:
    """Call a tool of the server in a conversation."""
    headers = {"Sidecall-Conversation": conversation}
    answer = httpx.post(f"{server.url}/tool_calls", json=write_call(name, **args), headers=headers, timeout=60)
    return str(answer.json()["content"])


def run_coder(file: str, server: Server, models: str, conversation: str) -> str:
    """Run an agent on a workspace with a failing test, and return what it prints."""
    call(server, conversation, "write", file_path="sums.py", content=FAILING)
    call(server, conversation, "write", file_path="test_sums.py", content=TEST)
    environment = {
        **os.environ,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{models}/v1",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": models,
        "SIDECALL_URL": server.url,
        "SIDECALL_CONVERSATION": conversation,
    }
    command = [sys.executable, ROOT / "examples" / file, "Mend the failing test."]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_openais_coder_mends_the_test(server: Server, models: str) -> None:
    """With shell and patches, of which one does not fit at first."""
    printed = run_coder("coding_agent_openai.py", server, models, "openai")

    failed, passed = ({"type": "exit", "exit_code": code} for code in (1, 0))
    assert printed == f"{[failed, 'failed', 'completed', passed]}\n"
    assert call(server, "openai", "read", file_path="sums.py") == "def total(numbers):\n    return sum(numbers)\n"


def test_anthropics_coder_mends_the_test(server: Server, models: str) -> None:
    """With bash, editor and memory, two of them in one turn."""
    printed = run_coder("coding_agent_anthropic.py", server, models, "anthropic")

    lines = printed.splitlines()
    assert lines[0] == "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    assert lines[2:4] == [
        "Here's the result of running `cat -n` on /workspace/sums.py:",
        "The file sums.py has been edited. Here's the result of running `cat -n` on a snippet of sums.py:",
    ]
    assert lines[-1] == "File created successfully at: /memories/done.md"
    assert call(server, "anthropic", "read", file_path="sums.py") == "def total(numbers):\n    return sum(numbers)\n"
    assert call(server, "anthropic", "read", file_path="memories/done.md") == "Sums are mended.\n"
