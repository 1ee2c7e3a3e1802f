"""Run the example agents as their readers would."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from bench.environments import ROOT
from tests.e2e.scripted_openai import Script, running_model

PROMPT = "What is (9 * 9 - 2 * 2) / 7, and what is 6 * 7?"


@dataclass(frozen=True)
class Run:
    """What became of one run of an agent."""

    code: int
    printed: str
    complained: str
    requests: list[dict[str, Any]]

    @property
    def last_words(self) -> str:
        """The last line of standard error; SDKs may have warned above it."""
        return self.complained.splitlines()[-1]


def run_agent(file: str, script: Script, sidecall_url: str, path: str = "", typed: str = "") -> Run:
    """Run an example as its reader would."""
    with running_model(script) as model:
        environment = {
            **os.environ,
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.url + path,
            "OPENAI_MODEL": "scripted",
            "SIDECALL_URL": sidecall_url,
        }
        command = [sys.executable, ROOT / "examples" / file, PROMPT]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=60, input=typed
        )
    return Run(done.returncode, done.stdout, done.stderr, model.requests)
