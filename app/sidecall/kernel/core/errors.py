"""Every error, sorted by who must act on it.

* SidecallError
  x DefinitionError            the tool's author: the start fails
    + InvalidToolName, InvalidToolOption, InvalidDocstring
    + SchemaInferenceError, SchemaAnnotationError
    + ToolAlreadyRegistered, DiscoveryError
  x RequestError               the client program: problem+json
    + UnknownParameter, InvalidParameter
    + MalformedJSON, UnsupportedMediaType, BodyTooLarge
    + NotAToolCall, BatchTooLarge
    + UnknownTool, MissingContext
    + GuardrailTripped
    + ToolCallFailed           for tools whose failures are not the model's: 500
    + UnknownApproval, ApprovalConflict, ToolChanged, InvalidDecision, UnknownContent
    + UnknownMcpServer, NothingWaits
    + Overloaded, CallRefused, TooManyCalls, QuotaExceeded, BudgetSpent, TooManyApprovals, PartUnavailable in
      `app/sidecall/kernel/core/overload.py`
    + RangeUnsatisfiable in `app/sidecall/features/contents/ranges.py`
    + InvalidCaller, ForeignHost, ForeignPage in `app/sidecall/features/access`
  x ApprovalRequired           a person: 202
  x ToolFailure                the model: ToolMessage with status "error"
    + ToolNotFound
    + MalformedArguments
    + InvalidArguments
    + ToolException            raised by tool authors
    + ToolExecutionError
    + ToolNotConfigured
    + ToolTimeout
    + ToolOutputError
    + CallDenied, CallRejected by a guardrail, by a person
    + CallUnanswered           in a batch, for what is a problem of a single call; more in `features/jobs/errors.py`

A class's docstring is its default message. `http/problems.py` says how an error is shown over HTTP.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from sidecall.kernel.core.field_errors import MOST_FIELDS, FieldError, write_lines
from sidecall.kernel.core.quota import Quota

ErrorKind = Literal[
    "unknown_tool",
    "malformed_arguments",
    "invalid_arguments",
    "tool_error",
    "execution_error",
    "not_configured",
    "timeout",
    "output_error",
    "denied",
    "rejected",
    "approval_required",
    "overloaded",
    "missing_context",
    "cancelled",
    "expired",
    "outcome_unknown",
    "poison",
    "contract_changed",
    "key_reused",
]


SEE_LOG = "The details are in the server's log."
# As long as a tool's name may be: enough to see a typing error, too little to fill a context.
_MAX_NAME = 64


def cut_name(name: str, most: int = _MAX_NAME) -> str:
    """Cut a name from a caller or model, for use in a message."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


class SidecallError(Exception):
    """Something went wrong in Sidecall."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or inspect.cleandoc(self.__doc__ or ""))

    @property
    def message(self) -> str:
        """The sentence to show."""
        return str(self.args[0])


class DefinitionError(SidecallError):
    """A tool cannot be offered as it is written."""


class InvalidToolName(DefinitionError):
    """The name of a tool must match ^[a-zA-Z0-9_-]{1,64}$."""


class InvalidToolOption(DefinitionError):
    """A tool was given an option that does not exist, or a value that the option does not take."""


class SchemaInferenceError(DefinitionError):
    """The arguments of a tool cannot be said in JSON Schema."""


class SchemaAnnotationError(DefinitionError, TypeError):
    """A tool's class annotates `args_schema` as an instance, not as a class."""


class InvalidDocstring(DefinitionError):
    """The docstring of a tool does not fit its parameters."""


class ToolAlreadyRegistered(DefinitionError):
    """Two tools have the same name."""


class DiscoveryError(DefinitionError):
    """A place that should hold tools cannot be loaded."""


class RequestError(SidecallError):
    """The request cannot be served."""

    # The status of the answer, and what the type of its problem ends with. A class without one has that of its parent.
    problem: ClassVar[tuple[int, str]] = (400, "bad-request")
    # What it is to a call of a batch, whose other calls go on.
    kind: ErrorKind = "missing_context"
    # Of the answer, beside those that each problem has.
    headers: Mapping[str, str] = MappingProxyType({})
    quotas: tuple[Quota, ...] = ()  # What the caller has left, where its calls are counted.
    is_replayed = False  # Whether it is the outcome of an earlier call with the same key.

    def __init__(self, message: str | None = None, **members: Any) -> None:
        super().__init__(message)
        self.members: Mapping[str, Any] = members


class UnknownParameter(RequestError):
    """The query has a parameter that this request does not know."""

    problem = (422, "unknown-parameter")


class InvalidParameter(RequestError):
    """A parameter of the request is wrong."""

    problem = (422, "invalid-parameter")


class ReloadFailed(RequestError):
    """What the server offers could not be loaded again, and nothing has changed."""

    problem = (409, "reload-failed")


class MalformedJSON(RequestError):
    """The body is not JSON."""

    problem = (400, "malformed-json")


class UnsupportedMediaType(RequestError):
    """The body has a `Content-Type` or a `Content-Encoding` that is not taken here."""

    problem = (415, "unsupported-media-type")


class BodyTooLarge(RequestError):
    """The body is larger than this server takes."""

    problem = (413, "body-too-large")
    # The rest of the body is not read, so the connection cannot be used again.
    headers: Mapping[str, str] = MappingProxyType({"Connection": "close"})


class NotAToolCall(RequestError):
    """The body is JSON, but not a ToolCall."""

    problem = (422, "not-a-tool-call")


class BatchTooLarge(RequestError):
    """The batch holds more calls than this server takes at once."""

    problem = (422, "batch-too-large")


class CallbackRefused(RequestError):
    """The end of the call cannot be told at this `callback_url`."""

    problem = (422, "callback-refused")


class ContractChanged(RequestError):
    """The tool is not what the call is pinned to any more."""

    problem = (409, "contract-changed")
    kind: ErrorKind = "contract_changed"


class UnknownToolset(RequestError):
    """There is no such toolset."""

    problem = (404, "unknown-toolset")


class UnknownTool(RequestError):
    """There is no such tool, or it is not visible to you."""

    problem = (404, "unknown-tool")


class MissingContext(RequestError):
    """The tool needs a value that the caller, not the model, has to supply."""

    problem = (422, "missing-context")


class GuardrailTripped(RequestError):
    """A guardrail of the tool refuses this request."""

    problem = (403, "guardrail-tripped")
    kind: ErrorKind = "denied"


class ToolCallFailed(RequestError):
    """The tool failed, and its author lets such a failure reach the calling program."""

    problem = (500, "tool-call-failed")


class UnknownApproval(RequestError):
    """There is no such approval, or it has expired."""

    problem = (404, "unknown-approval")


class ApprovalConflict(RequestError):
    """The approval cannot be decided like this any more."""

    problem = (409, "approval-conflict")


class ToolChanged(ApprovalConflict):
    """The tool is not the one that was asked about."""

    problem = (409, "tool-changed")


class InvalidDecision(RequestError):
    """The decision does not fit the call."""

    problem = (422, "invalid-decision")


class UnknownMcpServer(RequestError):
    """There is no such MCP server whose tools are offered here."""

    problem = (404, "unknown-mcp-server")


class NothingWaits(RequestError):
    """There is nothing of that kind to accept."""

    problem = (409, "nothing-waits")


class UnknownContent(RequestError):
    """There is no such content, or it has expired."""

    problem = (404, "unknown-content")


class ToolFailure(SidecallError):
    """The call failed, and the model is told why."""

    kind: ErrorKind
    retryable: bool = False
    retry_after_ms: int | None = None
    errors: Sequence[FieldError] = ()
    nearest: Sequence[str] = ()
    details: Mapping[str, Any] = MappingProxyType({})  # What else the program is told.

    @property
    def content(self) -> Any:
        """The text that the model reads, before formatting."""
        return self.message


class ToolNotFound(ToolFailure):
    """The model asked for a tool that does not exist."""

    kind = "unknown_tool"

    def __init__(self, name: str, available: Sequence[str], nearest: Sequence[str], meant: str | None = None) -> None:
        # LangGraph's ToolNode says exactly this, and models repair from it; what they are asked about, they take.
        hint = f" Did you mean {meant}?" if meant else ""
        others = f", try one of [{', '.join(available)}]" if available else "; there are none"
        super().__init__(f"Error: {cut_name(name)} is not a valid tool{others}.{hint}")
        self.nearest = nearest


class MalformedArguments(ToolFailure):
    """The arguments are not a JSON object."""

    kind = "malformed_arguments"
    retryable = True

    def __init__(self, message: str | None = None, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.errors = errors


class InvalidArguments(ToolFailure):
    """The arguments do not fit the tool's schema: one line per field, never the rejected value."""

    kind = "invalid_arguments"
    retryable = True

    def __init__(
        self,
        errors: Sequence[FieldError],
        find_original: Callable[[], Exception | None] | None = None,
        lines: str | None = None,
    ) -> None:
        """Refuse arguments.

        Args:
            errors: The mistakes.
            find_original: Builds the validator's error on demand.
            lines: The errors as lines, where they are written already.
        """
        self.errors = errors[:MOST_FIELDS]
        super().__init__(write_lines(self.errors, is_whole=len(errors) <= MOST_FIELDS) if lines is None else lines)
        self._find_original = find_original

    @property
    def original(self) -> Exception | None:
        """The validator's own error, if there is one."""
        return None if self._find_original is None else self._find_original()


class ToolException(ToolFailure):
    """Tool execution error"""

    kind = "tool_error"

    def __init__(self, *args: Any, retryable: bool = False, retry_after: float | None = None) -> None:
        """Fail this call with a text that the model may read.

        Args:
            args: As in LangChain the first one is the content; what is not a string is said as JSON.
            retryable: Whether the same call may succeed later.
            retry_after: Seconds to wait before that.
        """
        Exception.__init__(self, *args)
        self.retryable = retryable or retry_after is not None
        self.retry_after_ms = None if retry_after is None else round(retry_after * 1000)

    @property
    def message(self) -> str:
        """The first argument if it is a non-empty text, else the default message."""
        first = self.args[0] if self.args else None
        return first if isinstance(first, str) and first.strip() else inspect.cleandoc(ToolException.__doc__ or "")

    @property
    def content(self) -> Any:
        """The content that the model reads: the first argument, serialized as JSON if it is not a text."""
        return self.args[0] if self.args and not isinstance(self.args[0], str) else self.message


class ToolExecutionError(ToolFailure):
    """The tool crashed: the model gets a generic text, the operator the traceback."""

    kind = "execution_error"

    def __init__(self, tool: str, call_id: str) -> None:
        super().__init__(f"Error: {tool} failed unexpectedly (call {call_id}). {SEE_LOG}")


class ToolNotConfigured(ToolFailure):
    """The tool lacks what nobody has set: the model gets a generic text, the operator what it is."""

    kind = "not_configured"

    def __init__(self, message: str, lack: str) -> None:
        super().__init__(message)
        self.lack = lack
        self.add_note(lack)  # For programs that call the tool directly and have no log.


def refuse_unconfigured(tool: str, call_id: str, lack: str) -> ToolNotConfigured:
    """Build the failure of a call whose tool lacks this setting."""
    text = f"Error: {tool} is not configured here, so it cannot run (call {call_id}). {SEE_LOG}"
    return ToolNotConfigured(text, lack)


class ToolTimeout(ToolFailure):
    """The tool did not answer before its deadline."""

    kind = "timeout"
    retryable = True

    def __init__(self, tool: str, seconds: float) -> None:
        super().__init__(f"Error: {tool} timed out after {write_seconds(seconds)}.")
        self.seconds = seconds


def write_seconds(seconds: float) -> str:
    """Format a duration for people, including very short ones."""
    return f"{seconds:.3f}".rstrip("0").rstrip(".") + " seconds" if seconds >= 0.001 else "less than a millisecond"


class ToolOutputError(ToolFailure):
    """The tool answered with something that cannot be sent."""

    kind = "output_error"


class CallDenied(ToolFailure):
    """The call was refused by a guardrail."""

    kind = "denied"


class CallRejected(ToolFailure):
    """Tool execution was not approved."""

    kind = "rejected"


class CallUnanswered(ToolFailure):
    """Stand in a batch's answer for what a single call is told by its status code."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
