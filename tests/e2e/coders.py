"""The coding agents of the examples, run on a workspace with a failing test."""

import os
import subprocess
import sys

from bench.environments import ROOT
from tests.kit.calls import write_call
from tests.kit.servers import CLIENT, Server

_TEST = """import unittest

from sums import total


class Sums(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
"""
_FAILING = "def total(numbers):\n    return 0\n"
MENDED = "def total(numbers):\n    return sum(numbers)\n"


def call(server: Server, conversation: str, name: str, **args: str) -> str:
    """Call a tool of the server in a conversation."""
    headers = {"Sidecall-Conversation": conversation}
    answer = CLIENT.post(f"{server.url}/tool_calls", json=write_call(name, **args), headers=headers, timeout=60)
    return str(answer.json()["content"])


def run_coder(provider: str, server: Server, models: str) -> list[str]:
    """Run an agent in the conversation of its provider's name, and return the lines that it prints."""
    call(server, provider, "write", file_path="sums.py", content=_FAILING)
    call(server, provider, "write", file_path="test_sums.py", content=_TEST)
    environment = {
        **os.environ,
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{models}/v1",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": models,
        "SIDECALL_URL": server.url,
        "SIDECALL_CONVERSATION": provider,
    }
    command = [sys.executable, ROOT / "examples" / f"coding_agent_{provider}.py", "Mend the failing test."]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
