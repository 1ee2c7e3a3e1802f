"""Who watches calls from outside, and what they say of how a call ended."""

from typing import Any, Literal, Protocol

from sidecall.core.errors import ErrorKind
from sidecall.core.invocation import CallRequest, Invocation
from sidecall.core.tool import CompiledTool

# One of few words, whatever a caller sends: a success, a failure's kind, or what no answer tells of.
Outcome = ErrorKind | Literal["success", "cancelled", "internal_error"]


class Observer(Protocol):
    """Hear of every call, on the event loop; must neither block nor raise."""

    def begin(self, invocation: Invocation) -> Any:
        """Hear that a call begins; what this returns is handed to `end`, which is called in the same task."""

    def end(self, begun: Any, outcome: Outcome) -> None:
        """Hear how it ended."""

    def refused(self, request: CallRequest, outcome: Outcome, tool: CompiledTool | None = None) -> None:
        """Hear of a call that never began; `tool` is None when there is none of that name."""


class Unobserved:
    """Hear of every call, and keep it to itself."""

    def begin(self, _invocation: Invocation) -> None:
        """Hear that a call begins."""

    def end(self, _begun: Any, _outcome: Outcome) -> None:
        """Hear how it ended."""

    def refused(self, _request: CallRequest, _outcome: Outcome, _tool: CompiledTool | None = None) -> None:
        """Hear of a call that never began."""
