"""What a tool raises ends its call in one way, wherever the tool runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.features.sandbox.machine import open_once
from tests.kit.fleets import Fleet, call, is_available, wait_for
from tests.kit.servers import Server

_TOOLS = '''
import asyncio

from fastapi import HTTPException

from sidecall import ApprovalRequired, OutgoingRefused, ToolException, UserTokenRefused, WorkspaceError, tool
from sidecall.features.jobs.errors import TooManyJobs
from sidecall.kernel.core import errors, overload
from sidecall.kernel.ports.contents import TooManyContents
from sidecall.kernel.ports.own_contents import ContentNotKept, NoSuchContent
from sidecall.kernel.ports.file_errors import TooManyFiles


class Busy(overload.CallRefused):
    """The machine behind this tool is busy."""

    problem = (429, "busy")

    def __init__(self) -> None:
        super().__init__("Busy.", retry_after=4)


class Coded(ToolException):
    """A failure with a code."""

    def __init__(self, code: int) -> None:
        super().__init__("coded")
        self.code = code


class Closed(errors.CallDenied):
    """It is closed."""


def spend() -> overload.BudgetSpent:
    return overload.BudgetSpent("Nothing is left.", "Later.", retry_after=30, budget={"name": "day", "left": 0})


RAISED = {
    "ToolException": lambda: ToolException("told", "more", retry_after=1.5),
    "ToolException of JSON": lambda: ToolException({"rows": [1]}),
    "of an own class": lambda: Coded(7),
    "WorkspaceError": lambda: WorkspaceError("missing", "no such file"),
    "OutgoingRefused": lambda: OutgoingRefused("not there"),
    "NoSuchContent": NoSuchContent,
    "ContentNotKept": lambda: ContentNotKept("too large"),
    "HTTPException": lambda: HTTPException(429, "slowly", {"Retry-After": "3"}),
    "ToolNotFound": lambda: errors.ToolNotFound("a", ["b"], ["b"], "b"),
    "MalformedArguments": lambda: errors.MalformedArguments("bad", [{"loc": [], "type": "x", "msg": "bad"}]),
    "InvalidArguments": lambda: errors.InvalidArguments([{"loc": ["a", 0], "type": "missing", "msg": "Missing"}]),
    "ToolExecutionError": lambda: errors.ToolExecutionError("other", "call_2"),
    "ToolNotConfigured": lambda: errors.ToolNotConfigured("not configured", "KEY"),
    "ToolTimeout": lambda: errors.ToolTimeout("other", 2.5),
    "ToolOutputError": lambda: errors.ToolOutputError("no such output"),
    "CallDenied": lambda: errors.CallDenied("denied"),
    "of a class of denials": Closed,
    "CallRejected": errors.CallRejected,
    "CallUnanswered": lambda: errors.CallUnanswered("expired", "expired"),
    "CallRefused": lambda: overload.CallRefused("no room", retry_after=7),
    "Overloaded": lambda: overload.Overloaded("no room", retry_after=7),
    "of a class of refusals": Busy,
    "NoWorker": overload.NoWorker,
    "BudgetSpent": spend,
    "TooManyCalls": lambda: overload.TooManyCalls("many", retry_after=2),
    "TooManyApprovals": overload.TooManyApprovals,
    "TooManyContents": lambda: TooManyContents("full"),
    "TooManyFiles": lambda: TooManyFiles("full"),
    "TooManyJobs": lambda: TooManyJobs(5, 2.0),
    "StoreUnavailable": overload.StoreUnavailable,
    "PartUnavailable": overload.PartUnavailable,
    "MissingContext": lambda: errors.MissingContext("missing"),
    "GuardrailTripped": lambda: errors.GuardrailTripped("tripped"),
    "ToolCallFailed": lambda: errors.ToolCallFailed("failed", kind="tool_error", retryable=True),
    "UnknownTool": errors.UnknownTool,
    "UserTokenRefused": lambda: UserTokenRefused("github"),
    "ApprovalRequired": lambda: ApprovalRequired("Shall it run?", preview="a", payload={"a": 1}, state={"b": 2}),
    "ValueError": lambda: ValueError("secret"),
    "SystemExit": lambda: SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt,
    "CancelledError": asyncio.CancelledError,
    "TimeoutError": TimeoutError,
    "ExceptionGroup": lambda: ExceptionGroup("two", [ToolException("a"), ValueError("b")]),
}


def word(failure: ToolException) -> str:
    """Tell the code."""
    return f"{type(failure).__name__}: {getattr(failure, 'code', None)}, {failure.content}"


def fail(how: str) -> None:
    """Fail.

    Args:
        how: In which way.
    """
    raise RAISED[how]()


async def fail_async(how: str) -> None:
    """Fail.

    Args:
        how: In which way.
    """
    raise RAISED[how]()


inline = tool("inline")(fail_async)
in_thread = tool("in_thread")(fail)
in_process = tool("in_process", executor="process")(fail)
in_sandbox = tool("in_sandbox", executor="sandbox")(fail)
on_worker = tool("on_worker", queue="raising")(fail_async)
in_process_there = tool("in_process_there", queue="raising", executor="process")(fail)

worded_inline = tool("worded_inline", handle_tool_error=word)(fail_async)
worded_in_process = tool("worded_in_process", executor="process", handle_tool_error=word)(fail)
worded_on_worker = tool("worded_on_worker", queue="raising", handle_tool_error=word)(fail_async)
'''

# Where each runs but the first, with which the others are compared.
_PLACES = ("in_thread", "in_process", "in_sandbox", "on_worker", "in_process_there")
_HOWS = tuple(line.split('"')[1] for line in _TOOLS.splitlines() if line.startswith('    "'))


@pytest.fixture(scope="module")
def server(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Start a server and a worker with tools that raise."""
    open_once()
    tools: Path = tmp_path_factory.mktemp("raised") / "raising_tools.py"
    tools.write_text(_TOOLS)
    made = fleet.serve(tools=tools, SIDECALL_PROCESSES="1")
    fleet.work("raising", tools=tools, SIDECALL_PROCESSES="1")
    wait_for(lambda: is_available(made, "on_worker"))
    return made


def end_of(server: Server, name: str, how: str) -> Any:
    """Return how a call ends: all that its answer says, but for names, ids and times."""
    answer = call(server, name, how=how)
    said = answer.json()
    if answer.status_code == 202:
        said = {name: said[name] for name in ("status", "description", "preview", "payload")}
    for varying in ("id", "invocation_id", "instance", "name"):
        said.pop(varying, None)
    told = said.get("response_metadata", {})
    told.pop("duration_ms", None)
    return answer.status_code, answer.headers.get("retry-after"), json.loads(json.dumps(said).replace(name, "a_tool"))


@pytest.mark.parametrize("how", _HOWS)
def test_it_ends_its_call_as_in_the_servers_own_loop(server: Server, how: str) -> None:
    """With the same status, problem, text and time after which to come again."""
    inline = end_of(server, "inline", how)

    assert {place: end_of(server, place, how) for place in _PLACES} == dict.fromkeys(_PLACES, inline)


@pytest.mark.parametrize(
    ("how", "status", "retry_after", "kind"),
    [
        ("CallRefused", 503, "7", "urn:sidecall:problem:overloaded"),
        ("Overloaded", 503, "7", "urn:sidecall:problem:overloaded"),
        ("of a class of refusals", 429, "4", "urn:sidecall:problem:busy"),
        ("NoWorker", 503, "1", "urn:sidecall:problem:no-worker"),
        ("BudgetSpent", 429, "30", "urn:sidecall:problem:budget-spent"),
        ("CallDenied", 200, None, "denied"),
        ("of a class of denials", 200, None, "denied"),
        ("ToolNotConfigured", 200, None, "not_configured"),
        ("TooManyApprovals", 200, None, "execution_error"),
        ("SystemExit", 200, None, "execution_error"),
    ],
)
def test_a_refusal_says_in_a_process_what_it_is(
    server: Server, how: str, status: int, retry_after: str | None, kind: str
) -> None:
    """Wherever that process is."""
    for place in ("in_process", "in_sandbox", "on_worker"):
        found = end_of(server, place, how)
        said = found[2]["type"] if status != 200 else found[2]["response_metadata"]["error"]["kind"]
        assert (place, *found[:2], said) == (place, status, retry_after, kind)


def test_the_authors_handler_gets_the_authors_exception(server: Server) -> None:
    """With its attributes, where the server knows its class."""
    places = ("worded_inline", "worded_in_process", "worded_on_worker")
    found = {place: end_of(server, place, "of an own class")[2]["content"] for place in places}

    assert found == dict.fromkeys(places, "Coded: 7, coded")
