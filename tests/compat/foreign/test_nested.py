"""What an agent of the OpenAI Agents SDK wants to do inside a tool waits for a person, and goes on afterwards.

The modules have the shape of the SDK's, as far as it is used; it cannot be installed beside our pins.
"""

import json
import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from sidecall import Caller, tool
from sidecall.compat.foreign import agents
from tests.compat.foreign.agents_sdk import FunctionTool
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient


@dataclass
class Item:
    """The item of a call; also what waits."""

    name: str
    call_id: str
    arguments: str
    type: str = "function_call"


class State:
    """What the SDK remembers of runs that wait, by item and scope."""

    def __init__(self) -> None:
        self.runs: dict[Any, Any] = {}
        self.scopes: list[str] = []

    def make_module(self) -> ModuleType:
        """Make the SDK's module."""
        module = ModuleType("agents.agent_tool_state")
        vars(module).update(
            set_agent_tool_state_scope=self._set_scope,
            peek_agent_tool_run_result=lambda call, scope_id: self.runs.get((id(call), scope_id)),
            drop_agent_tool_run_result=lambda call, scope_id: self.runs.pop((id(call), scope_id), None),
            record_agent_tool_resume_state=self._resume,
            get_agent_tool_resume_state=lambda result: getattr(result, "resumes", None),
        )
        return module

    def _set_scope(self, context: Any, scope: str) -> None:
        context.scope = scope
        self.scopes.append(scope)

    def _resume(self, call: Any, state: Any, scope_id: str, approval_items: list[Any]) -> None:
        assert len(approval_items) == 1
        self.runs[id(call), scope_id] = SimpleNamespace(resumes=state, interruptions=[])


@dataclass
class Context:
    """The SDK's ToolContext."""

    context: Any
    tool_name: str
    tool_call_id: str
    tool_arguments: str
    tool_call: Any


@dataclass
class Run:
    """A run that wants to make refunds, one after the other."""

    orders: list[int]
    done: list[Any] = field(default_factory=list)

    @property
    def interruptions(self) -> list[Item]:
        """What waits."""
        return [Item("refund", "inner", json.dumps({"order": self.orders[0]}))] if self.orders else []

    def to_state(self) -> Any:
        """Make what can be approved."""
        state = SimpleNamespace(get_interruptions=lambda: self.interruptions, run=self)
        state.approve = lambda _: self.done.append(self.orders.pop(0))
        state.reject = lambda _, rejection_message: self.done.append((self.orders.pop(0), rejection_message))
        return state


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> State:
    """The SDK, as far as it is loaded."""
    made = State()
    context = ModuleType("agents.tool_context")
    vars(context)["ToolContext"] = Context
    responses = ModuleType("openai.types.responses")
    vars(responses)["ResponseFunctionToolCall"] = Item
    monkeypatch.setitem(sys.modules, "agents.agent_tool_state", made.make_module())
    monkeypatch.setitem(sys.modules, "agents.tool_context", context)
    monkeypatch.setitem(sys.modules, "openai.types.responses", responses)
    return made


def make_agent_tool(state: State, *orders: int) -> Any:
    """Make what `Agent.as_tool` makes."""

    async def invoke(context: Any, text: str) -> Any:
        key = (id(context.tool_call), context.scope)
        known = state.runs.get(key)
        run = Run(list(orders)) if known is None else getattr(known, "resumes", known)
        run = getattr(run, "run", run)
        if run.interruptions:
            state.runs[key] = run
            return None
        return f"{json.loads(text)['input']}: {run.done}"

    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return tool(FunctionTool("ask_helper", "Ask.", schema, invoke))


CALL = write_call("ask_helper", input="refund")


async def test_what_waits_inside_is_shown_and_goes_on_when_it_is_approved(
    make_client: MakeClient, state: State
) -> None:
    """Each by itself; the same call that comes again does not ask again."""
    client = await make_client(make_agent_tool(state, 7, 8))

    first, again = [await client.post("/tool_calls", json=CALL) for _ in range(2)]
    approval = first.json()
    second = (await client.post(f"/approvals/{approval['id']}", json={"decision": "approve"})).json()["message"]
    last = await client.post(f"/approvals/{second['response_metadata']['approval_id']}", json={"decision": "approve"})

    assert (first.status_code, again.json()["id"]) == (202, approval["id"])
    assert approval["tool_call"] == {"name": "refund", "args": {"order": 7}, "id": "call_1", "type": "tool_call"}
    assert second["response_metadata"]["error"]["kind"] == "approval_required"
    assert last.json()["tool_call"]["args"] == {"order": 8}
    assert (last.json()["message"]["status"], last.json()["message"]["content"]) == ("success", "refund: [7, 8]")


async def test_nobody_shares_a_run_with_another_caller(state: State) -> None:
    """Although their calls are the same."""
    runs = agents.NestedRuns()
    asked = [
        SimpleNamespace(caller=Caller(it), tool_call_id="c", approved=False, rejection=None)
        for it in ("ada", "bo", "ada")
    ]
    for it in asked:
        theirs = SimpleNamespace(tool_call=Item("ask", "c", "{}"), tool_arguments="{}")

        async def invoke(theirs: Any = theirs) -> None:
            state.runs[id(theirs.tool_call), theirs.scope] = Run([7])

        with pytest.raises(agents.ApprovalWanted):
            await runs.run(it, theirs, invoke)  # type: ignore[arg-type]  # as far as it is used

    assert state.scopes[0] == state.scopes[2] != state.scopes[1]


async def test_what_waits_inside_has_its_own_arguments(make_client: MakeClient, state: State) -> None:
    """A person takes them or leaves them."""
    client = await make_client(make_agent_tool(state, 7))
    place = f"/approvals/{(await client.post('/tool_calls', json=CALL)).json()['id']}"

    changed = await client.post(place, json={"decision": "approve", "args": {"order": 8}})

    assert (changed.status_code, changed.json()["type"]) == (422, "urn:sidecall:problem:invalid-decision")


async def test_the_run_goes_on_when_what_it_wants_is_rejected(make_client: MakeClient, state: State) -> None:
    """The agent is told why, or that it was; and may want something else."""
    client = await make_client(make_agent_tool(state, 7, 8))
    place = f"/approvals/{(await client.post('/tool_calls', json=CALL)).json()['id']}"

    first = (await client.post(place, json={"decision": "reject", "reason": "Too much."})).json()
    place = f"/approvals/{first['message']['response_metadata']['approval_id']}"
    last = (await client.post(place, json={"decision": "reject"})).json()

    assert (first["status"], last["status"]) == ("rejected", "rejected")
    assert last["message"]["status"] == "success"
    assert last["message"]["content"] == "refund: [(7, 'Too much.'), (8, 'Tool execution was not approved.')]"


async def test_a_rejection_ends_the_call_whose_run_is_forgotten(
    make_client: MakeClient, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would begin anew, and ask again."""
    monkeypatch.setattr(agents, "_MOST", 0)
    client = await make_client(make_agent_tool(state, 7))
    place = f"/approvals/{(await client.post('/tool_calls', json=CALL)).json()['id']}"

    message = (await client.post(place, json={"decision": "reject", "reason": "Too much."})).json()["message"]

    assert message["response_metadata"]["error"]["kind"] == "rejected"
    assert message["content"] == "Too much."
