"""Options of calls that depend on a framework's run, such as its state and its user."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, cast

from sidecall.client.adapters import make_sendable
from sidecall.client.answers import CallApproval, PersonVerdict
from sidecall.client.options import AskPerson, HearProgress
from sidecall.client.remote import ApprovalMode, RemoteTool, ToolOptions, check_options

# What a person has seen of an approval: a tool may ask something else under the same one.
SEEN = ("id", "description", "preview", "payload", "question", "sign_in")


def is_shown(approval: CallApproval, document: Mapping[str, Any]) -> bool:
    """Return whether an approval asks what a document of it has shown."""
    provider = None if approval.sign_in is None else approval.sign_in.provider
    shown = (document.get("sign_in") or {}).get("provider")
    if provider is None and not _has_number(approval, document.get("question")):
        return False
    return provider == shown and all(document.get(name) == approval.document.get(name) for name in SEEN[:-2])


def _has_number(approval: CallApproval, shown: int | None) -> bool:
    """Return whether the question has this number; older servers do not number questions."""
    number = approval.document.get("question")
    return None in (number, shown) or number == shown


@dataclass
class PersonWord:
    """The answer of a framework's user to one question, for `ask`; other questions go to `otherwise`.

    `shown` is what they were shown of the approval; None if there was none yet, only a dry run that said that the tool
    needs approval.
    """

    tool: str
    shown: Mapping[str, Any] | None
    verdict: PersonVerdict
    otherwise: AskPerson | None = None
    is_used: bool = False

    def decide(self, approval: CallApproval) -> Any:
        """Return the decision on this question, or None."""
        if not self.is_used and self._is_about(approval):
            self.is_used = True
            return self.verdict
        return None if self.otherwise is None else self.otherwise(approval)

    def _is_about(self, approval: CallApproval) -> bool:
        if self.shown is not None:
            return is_shown(approval, self.shown)
        # What a tool asks itself has words, and what it wants to do inside another name.
        is_own = approval.description is not None or approval.tool_call["name"] != self.tool
        return not is_own and approval.sign_in is None


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
