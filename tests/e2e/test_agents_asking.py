"""The example agents ask a person where a tool wants that."""

from pathlib import Path

import pytest

from tests.e2e.agents import run_agent
from tests.e2e.conftest import Serve
from tests.e2e.scripted_openai import paying, refunding
from tests.kit.servers import CLIENT, Server

pytestmark = pytest.mark.usefixtures("origin_of_agents")

DESK_TOOLS = '''
from typing import Annotated, Any

from sidecall import Command, InjectedState, ToolMessage, ToolRuntime, tool


@tool
def remember(text: str, runtime: ToolRuntime) -> Command:
    """Remember a text, in the state of the agent."""
    said = runtime.state["messages"][0].content
    return Command(update={"memory": {said: text}, "messages": [ToolMessage("noted")]})


def show_refund(amount: int) -> str:
    """Say what a refund would do."""
    return f"Would pay {amount} back."


@tool(requires_approval=True, preview=show_refund)
def refund(amount: int, memory: Annotated[dict[str, Any], InjectedState("memory")] = {}) -> str:
    """Pay money back."""
    return f"paid {amount} back because {memory}"
'''

REJECTED = "The user does not want this."
COUNTING = (
    DESK_TOOLS
    + '''

COUNTED = []


@tool
def count() -> str:
    """Count how often it is called."""
    COUNTED.append(1)
    return f"counted to {len(COUNTED)}"
'''
)


@pytest.fixture(scope="module")
def desk(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server with a tool that changes the agent's state, and one that wants a person's word."""
    tools = tmp_path_factory.mktemp("desk") / "desk.py"
    tools.write_text(DESK_TOOLS)
    return start_server("--tools", str(tools))


def test_langchain_agent_carries_state_commands_and_approvals(desk: Server) -> None:
    """What one tool puts into the state the next one finds there; a person is asked, once."""
    run = run_agent("agent_langchain.py", refunding, desk.url, typed="y\n")

    refunded = "paid 5 back because {'What is (9 * 9 - 2 * 2) / 7, and what is 6 * 7?': 'late'}"
    assert (run.code, run.printed) == (0, f"Run refund({{'amount': 5}})? [y/N] {refunded}\n"), run.complained
    assert CLIENT.get(f"{desk.url}/approvals", params={"status": "pending"}).json() == []
    assert "Would pay 5 back.\n" in run.complained


@pytest.mark.parametrize(("typed", "refunded"), [("y\n", "paid 5 back because {}"), ("no\n", REJECTED), ("", REJECTED)])
def test_openai_agent_asks_the_person(counter: Server, typed: str, refunded: str) -> None:
    """Once, of the call that waits; the other call of the turn is not run again."""
    run = run_agent("agent_openai.py", paying, counter.url, typed=typed)

    assert (run.code, run.printed) == (0, f"Run refund({{'amount': 5}})? [y/N] counted to 1; {refunded}\n"), (
        run.complained
    )
    assert run.complained.splitlines()[-3:] == [
        "Would pay 5 back.",
        "count({}) -> counted to 1",
        f'refund({{"amount": 5}}) -> {refunded}',
    ]
    assert CLIENT.get(f"{counter.url}/approvals", params={"status": "pending"}).json() == []


@pytest.fixture
def counter(start_server: Serve, tmp_path: Path) -> Server:
    """A server that remembers how often a tool was run."""
    tools = tmp_path / "desk.py"
    tools.write_text(COUNTING)
    return start_server("--tools", str(tools))
