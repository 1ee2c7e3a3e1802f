"""Observers of calls, and the outcome of a call in one word."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from sidecall.kernel.core.errors import ErrorKind
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.origin import CALL
from sidecall.kernel.core.tool import CompiledTool

# One of a fixed set, independent of callers' input: success, a failure's kind, or an outcome without an answer.
Outcome = ErrorKind | Literal["success", "internal_error"]


class Observer(Protocol):
    """Observes every call, on the event loop; must neither block nor raise."""

    def begin(self, invocation: Invocation) -> Any:
        """Observe the beginning of a call; the result is passed to `end`, which runs in the same task."""

    def end(self, invocation: Invocation, begun: Any, outcome: Outcome) -> None:
        """Observe the end of a call."""

    def refuse(self, request: CallRequest, outcome: Outcome, tool: CompiledTool | None = None) -> None:
        """Observe a call that never began; `tool` is None if its caller does not see it."""


class CallNotes(Protocol):
    """Notes how calls end that were let in; a replayed answer is no call."""

    def begin(self, invocation: Invocation) -> Any:
        """Note parts that the call may change; the result is passed to `note`."""

    def note(self, invocation: Invocation, outcome: Outcome, seconds: float, begun: Any) -> None:
        """Note how it ended, and the seconds that it took."""


class OuterSpans(Protocol):
    """Tells spans of a process whose children they are."""

    def within(self, headers: Mapping[str, str]) -> AbstractContextManager[None]:
        """Make the spans of a `with` block children of the one that another process has named."""


class Unobserved:
    """An observer that does nothing."""

    def begin(self, _invocation: Invocation) -> Any:
        """Do nothing."""

    def end(self, _invocation: Invocation, _begun: Any, _outcome: Outcome) -> None:
        """Do nothing."""

    def refuse(self, _request: CallRequest, _outcome: Outcome, _tool: CompiledTool | None = None) -> None:
        """Do nothing."""


class CurrentCall(Unobserved):
    """Know in each context which call runs in it, for the calls that its tool makes; all that a server needs."""

    def begin(self, invocation: Invocation) -> Any:
        """Note the call; the result is the one around it."""
        outer = CALL.get()
        CALL.set(invocation)
        return outer

    def end(self, _invocation: Invocation, begun: Any, _outcome: Outcome) -> None:
        """Note the one around it again; not by a reset, which fails for a call that is collected elsewhere."""
        CALL.set(begun)


def join_notes(notes: Sequence[CallNotes]) -> CallNotes | None:
    """Make one of several; None of none, and one alone is itself."""
    return _JoinedNotes(notes) if len(notes) > 1 else next(iter(notes), None)


class _JoinedNotes:
    def __init__(self, notes: Sequence[CallNotes]) -> None:
        self._notes = notes

    def begin(self, invocation: Invocation) -> list[Any]:
        return [one.begin(invocation) for one in self._notes]

    def note(self, invocation: Invocation, outcome: Outcome, seconds: float, begun: list[Any]) -> None:
        for one, noted in zip(self._notes, begun, strict=True):
            one.note(invocation, outcome, seconds, noted)
