"""Agents of the OpenAI Agents SDK ask again for calls whose person had to sign in, each for its own."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.environments import ROOT
from tests.e2e.clients.conftest import run_beside
from tests.e2e.conftest import Serve
from tests.kit.callers.provider import PUBLIC_URL, provide
from tests.kit.callers.secrets import SECRETS_KEY

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def told(for_agents: Path, start_server: Serve) -> Any:
    """What the models of all runs have read."""
    with provide() as provider:
        settings = {
            "SIDECALL_OAUTH": provider.write_settings(),
            "SIDECALL_PUBLIC_URL": PUBLIC_URL,
            "SIDECALL_SECRETS_KEY": SECRETS_KEY,
            "SIDECALL_HOSTS": "sidecall",
        }
        server = start_server("--tools", str(HERE / "signing_tools.py"), **settings)
        path = f"{ROOT / 'app'}:{ROOT}"
        return json.loads(
            run_beside(for_agents, [str(HERE / "use_agents_signing.py")], SIDECALL_URL=server.url, PYTHONPATH=path)
        )


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("Ada", ["link", "tea of Ada"]),
        ("Bob", ["link", "tea of Bob"]),
        ("Ada elsewhere", ["link", "tea of Ada"]),
        ("one run", ["link", "tea of Ada"]),
        ("another run", ["link", "tea of Ada"]),
        ("session", ["link", "tea of Ada"]),
        ("group", ["link", "tea of Ada"]),
        ("through", ["link", "tea of Ada"]),
        ("kept", ["link", "signed off", "tea of Ada"]),
        ("both", ["link", "link", "tea of Ada", "tea of Ada"]),
        ("late", ["tea of Ada"]),
    ],
)
def test_a_run_gets_the_answer_of_its_own_call(told: Any, run: str, expected: list[str]) -> None:
    """Of its user, wherever it goes on: in the same run, from a history, a session, a group, or a state as text."""
    assert [read.partition(", ")[0] for read in told[run]] == expected


def test_each_call_runs_once(told: Any) -> None:
    """All runs have asked for the same; none has the answer of another one."""
    numbers = Counter(read.partition(", note ")[2] for texts in told.values() for read in texts if ", note " in read)

    assert numbers == {f"{number} at ann": 1 for number in range(1, 13)}
