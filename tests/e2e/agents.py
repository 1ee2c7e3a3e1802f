"""Run the example agents as their readers would."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from bench.environments import ROOT
from tests.e2e.scripted_openai import Script, running_model
from tests.kit.forked import originating, run_file
from tests.kit.forking import Origin

PROMPT = "What is (9 * 9 - 2 * 2) / 7, and what is 6 * 7?"
# The environment variable with the socket of what agents are forked from.
_ADDRESS = "ORIGIN_OF_AGENTS"
# What takes longest to import, more than a second.
_MODULES = ("langchain.agents", "langchain_openai", "langgraph.checkpoint.memory", "openai")


@pytest.fixture(scope="session")
def origin_of_agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have agents forked from what has imported what they need."""
    folder = tmp_path_factory.mktemp("origin")
    with originating(folder, *_MODULES) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv(_ADDRESS, address)
        yield


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
    """Run an example as its reader would; the fixture `origin_of_agents` has to be there."""
    with running_model(script) as model:
        environment = {
            **os.environ,
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.url + path,
            "OPENAI_MODEL": "scripted",
            "SIDECALL_URL": sidecall_url,
        }
        origin = Origin(os.environ[_ADDRESS])
        done = run_file(origin, ROOT / "examples" / file, PROMPT, environment=environment, typed=typed)
    return Run(done.returncode, done.stdout, done.stderr, model.requests)
