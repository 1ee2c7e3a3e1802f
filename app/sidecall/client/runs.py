"""Options of calls that depend on a framework's run, such as its state and its user."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict, cast

from sidecall.client.adapters import make_sendable
from sidecall.client.answers import PersonVerdict
from sidecall.client.options import AskPerson, HearProgress
from sidecall.client.questions import PersonWord
from sidecall.client.remote import ApprovalMode, RemoteTool, ToolOptions, check_options

OfRun = Callable[[Any], Any]
# What a program may give as a function of the run.
_OF_RUN = ("state", "context", "conversation")


class RunOptions(TypedDict, total=False):
    """Options of the calls of an agent's runs.

    `state`, `context` and `conversation` are values, or functions of the framework's own object for a run that return
    them. The others are those of `sidecall.client.load_tools`.
    """

    state: Any
    context: Mapping[str, Any] | OfRun
    conversation: str | OfRun
    timeout: float
    ask: AskPerson
    approval_wait: float
    approvals: ApprovalMode
    on_progress: HearProgress


def check_run_options(options: RunOptions) -> RunOptions:
    """Return a copy of the options.

    Raises:
        TypeError: There is an unknown one.
        ValueError: `approvals` is none of its values.
    """
    return cast("RunOptions", check_options(cast("ToolOptions", options)))


def read_run(options: RunOptions, run: Any, *, conversation: str | None = None) -> ToolOptions:
    """Return the options of a call in a run.

    Args:
        options: Those that tools were loaded with.
        run: The framework's object for the run, which is passed to functions among them.
        conversation: The id that the framework has for the conversation; the program's own comes first.
    """
    read: dict[str, Any] = {} if conversation is None else {"conversation": conversation}
    for key, given in options.items():
        value = given(run) if key in _OF_RUN and callable(given) else given
        read[key] = make_sendable(value) if key in ("state", "context") else value
    return cast("ToolOptions", {key: value for key, value in read.items() if value is not None})


def asks_framework(tool: RemoteTool, options: RunOptions) -> bool:
    """Return whether calls of a tool are approved in the framework's own way, if the program names no other."""
    return tool.asks and leaves_approvals(options)


def leaves_approvals(options: Mapping[str, object]) -> bool:
    """Return whether the program leaves it to the framework how approvals are asked for."""
    return options.keys().isdisjoint(("ask", "approval_wait", "approvals"))


def confirm(options: ToolOptions, tool: str) -> ToolOptions:
    """Return the options of a call that a person has approved in the framework; what its tool asks is not answered."""
    return {**options, "ask": PersonWord(tool, None, PersonVerdict("approve")).decide}
