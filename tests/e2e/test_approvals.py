"""Calls wait for people on a real server, and nothing around a tool takes it down."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.servers import CLIENT, Server

TOOLS = '''
import asyncio
from pathlib import Path
from typing import Annotated

from sidecall import Secret, ToolContext, ToolGuardrailFunctionOutput, tool


@tool(requires_approval=lambda args: args["amount"] > 100)
def pay(amount: int, context: ToolContext) -> str:
    """Pay.

    Args:
        amount: How much.
    """
    with Path(context.state["ledger"]).open("a") as ledger:
        ledger.write(f"{amount}\\n")
    return f"paid {amount}"


@tool(requires_approval=True)
async def use(key: Annotated[str, Secret("E2E_KEY")]) -> str:
    """Use a key."""
    return f"a key of {len(key)} characters"


@tool(handle_tool_error=None)
def crash() -> str:
    """Crash, and let everybody know."""
    raise ValueError("canary-4711")


@tool(timeout=0.01, timeout_behavior="raise")
async def hang() -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


@tool(tool_input_guardrails=[lambda _: ToolGuardrailFunctionOutput.raise_exception("no")])
async def guarded() -> str:
    """Never run."""
    return "ran"
'''

LEAVING = """
import sys
from typing import Any

from sidecall import ToolException, tool



def leave(*_: Any) -> Any:
    sys.exit(3)


async def leave_later(*_: Any) -> Any:
    sys.exit(3)


class Leaving:
    on_tool_start = staticmethod(leave)


class LeavingLater:
    on_tool_end = staticmethod(leave_later)


def work() -> str:
    raise ToolException("no")


tools = [
    tool("in_a_callback", description="Work.", callbacks=[Leaving()])(lambda: "ran"),
    tool("in_an_async_callback", description="Work.", callbacks=[LeavingLater()])(lambda: "ran"),
    tool("in_a_policy", description="Work.", requires_approval=leave)(lambda: "ran"),
    tool("in_a_guardrail", description="Work.", tool_input_guardrails=[leave_later])(lambda: "ran"),
    tool("in_a_handler", description="Work.", failure_error_function=lambda _, __: leave())(work),
    tool("in_a_predicate", description="Work.", is_enabled=lambda _: leave())(lambda: "ran"),
]
in_a_callback, in_an_async_callback, in_a_policy, in_a_guardrail, in_a_handler, in_a_predicate = tools
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold tools, a secret, and tools whose hooks leave."""
    folder = tmp_path_factory.mktemp("approvals")
    (folder / "mine.py").write_text(TOOLS)
    (folder / "leaving.py").write_text(LEAVING)
    (folder / "secrets").mkdir()
    (folder / "secrets/E2E_KEY").write_text("s3cret\n")
    return folder


@pytest.fixture(scope="module")
def server(start_server: Serve, folder: Path) -> Server:
    """Serve them."""
    secrets = str(folder / "secrets")
    return start_server("--tools", "mine.py", cwd=folder, SIDECALL_SECRETS_DIR=secrets, SIDECALL_MAX_APPROVALS="20")


def _call(name: str, state: Any = None, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": "call_1", "type": "tool_call", "state": state}


def test_a_payment_waits_runs_once_and_is_answered(server: Server, tmp_path: Path) -> None:
    """The whole way: 202, the list, the decision, the poll, and a second decision that is refused."""
    ledger = tmp_path / "ledger"
    call = _call("pay", {"ledger": str(ledger)}, amount=500)

    with httpx.Client(base_url=server.url) as client:
        waiting = client.post("/tool_calls", json=call)
        again = client.post("/tool_calls", json=call)
        place = waiting.headers["Location"]
        is_paid_before = ledger.exists()
        listed = client.get("/approvals", params={"status": "pending"}).json()
        decided = client.post(place, json={"decision": "approve", "args": {"amount": 400}}, params={"format": "openai"})
        polled = client.get(place, params={"format": "openai"})
        refused = client.post(place, json={"decision": "approve"})

    assert (waiting.status_code, again.headers["Location"], is_paid_before) == (202, place, False)
    assert f"/approvals/{listed[-1]['id']}" == place
    assert decided.json() == polled.json()
    assert decided.json()["message"] == {"role": "tool", "tool_call_id": "call_1", "content": "paid 400"}
    assert (refused.status_code, ledger.read_text()) == (409, "400\n")


def test_a_small_payment_does_not_wait(server: Server, tmp_path: Path) -> None:
    """The policy is asked each time."""
    response = CLIENT.post(f"{server.url}/tool_calls", json=_call("pay", {"ledger": str(tmp_path / "l")}, amount=100))

    assert (response.status_code, response.json()["content"]) == (200, "paid 100")


def test_a_rejected_payment_is_never_made(server: Server, tmp_path: Path) -> None:
    """The model reads why."""
    ledger = tmp_path / "ledger"
    waiting = CLIENT.post(f"{server.url}/tool_calls", json=_call("pay", {"ledger": str(ledger)}, amount=900))
    place = f"{server.url}{waiting.headers['Location']}"

    decided = CLIENT.post(place, json={"decision": "reject", "reason": "Ask the boss."}).json()

    assert (decided["status"], decided["message"]["content"]) == ("rejected", "Ask the boss.")
    assert not ledger.exists()


def test_of_many_people_one_decides(server: Server, tmp_path: Path) -> None:
    """On connections of their own, at the same time."""
    ledger = tmp_path / "ledger"
    waiting = CLIENT.post(f"{server.url}/tool_calls", json=_call("pay", {"ledger": str(ledger)}, amount=700))
    place = f"{server.url}{waiting.headers['Location']}"

    with ThreadPoolExecutor(8) as people:
        decisions = people.map(lambda _: CLIENT.post(place, json={"decision": "approve"}).status_code, range(8))

    assert sorted(decisions) == [200, *[409] * 7]
    assert ledger.read_text() == "700\n"


def test_an_approved_tool_gets_its_secret(server: Server) -> None:
    """From a mounted folder, and nobody is shown it."""
    waiting = CLIENT.post(f"{server.url}/tool_calls", json=_call("use"))
    place = f"{server.url}{waiting.headers['Location']}"

    decided = CLIENT.post(place, json={"decision": "approve"})

    assert decided.json()["message"]["content"] == "a key of 6 characters"
    assert "s3cret" not in waiting.text + decided.text + server.log


@pytest.mark.parametrize(
    ("name", "status", "slug"),
    [
        ("crash", 500, "tool-call-failed"),
        ("hang", 500, "tool-call-failed"),
        ("guarded", 403, "guardrail-tripped"),
    ],
)
def test_what_goes_through_is_a_problem(server: Server, name: str, status: int, slug: str) -> None:
    """With the call's id, and without the reason, which is in the log."""
    response = CLIENT.post(f"{server.url}/tool_calls", json=_call(name))

    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["type"] == f"urn:sidecall:problem:{slug}"
    assert response.json()["call_id"] == "call_1"
    assert "canary-4711" not in response.text


def test_hooks_that_leave_take_nobody_along(start_server: Serve, folder: Path) -> None:
    """Calling sys.exit() in what stands around a tool ends neither the server nor the other calls."""
    server = start_server("--tools", "leaving.py", cwd=folder)
    names = ["in_a_callback", "in_an_async_callback", "in_a_policy", "in_a_guardrail", "in_a_handler", "in_a_predicate"]

    with httpx.Client(base_url=server.url) as client:
        statuses = [client.post("/tool_calls", json=_call(name)).status_code for name in names]
        listing = client.get("/tools")
        alive = client.get("/healthz")

    assert statuses == [200, 200, 202, 200, 200, 200]
    assert [entry["function"]["name"] for entry in listing.json()] == names[:5]
    assert alive.status_code == 200
