"""A real server offers a file of LangChain tools as it is, and says at its start what cannot be."""

from pathlib import Path

from tests.e2e.conftest import Serve
from tests.kit.calls import write_call
from tests.kit.servers import CLIENT

AS_IS = '''
from langchain_core.tools import tool
from langgraph.config import get_store, get_stream_writer
from langgraph.func import task
from langgraph.types import interrupt


@tool(parse_docstring=True)
def pay(amount: int) -> str:
    """Pay.

    Args:
        amount: How much.
    """
    get_stream_writer()(f"asked for {amount}")
    answer = interrupt({"amount": amount})
    get_store().put(("paid",), "last", {"amount": amount})
    return f"{answer['by']} paid {get_store().get(('paid',), 'last').value}"


@task
def add(a: int) -> int:
    return a + 1


@tool(parse_docstring=True)
def sum_up(a: int) -> int:
    """Sum up.

    Args:
        a: A number.
    """
    return add(a).result()
'''
HALF = '''
from langgraph.types import interrupt

from sidecall import tool


@tool
def ask(q: str) -> str:
    """Ask.

    Args:
        q: What.
    """
    return interrupt(q)
'''


def test_what_works_is_not_warned_of_and_what_cannot_is(start_server: Serve, tmp_path: Path) -> None:
    """The interrupt waits for a person over HTTP."""
    places = {name: tmp_path / f"{name}.py" for name in ("as_is", "half")}
    places["as_is"].write_text(AS_IS)
    places["half"].write_text(HALF)
    server = start_server("--tools", str(places["as_is"]), "--tools", str(places["half"]))

    asked = CLIENT.post(f"{server.url}/tool_calls", json=write_call("pay", amount=3))
    words = {"decision": "approve", "reason": '{"by": "Ada"}'}
    decided = CLIENT.post(f"{server.url}/approvals/{asked.json()['id']}", json=words).json()

    assert (asked.status_code, asked.json()["payload"]) == (202, {"amount": 3})
    assert decided["message"]["content"] == "Ada paid {'amount': 3}"
    said = [line for line in server.log.splitlines() if "not done here" in line]
    assert len(said) == 2
    assert "add, a task, runs only in an entrypoint of LangGraph" in said[0]
    assert "half.py:14: uses interrupt, which is not here" in said[1]
