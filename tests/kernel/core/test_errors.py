"""Every error says who must act, in a sentence fit for them."""

import pytest

from sidecall.kernel.core.errors import (
    ApprovalConflict,
    CallDenied,
    CallRejected,
    CallUnanswered,
    GuardrailTripped,
    InvalidArguments,
    MalformedArguments,
    RequestError,
    SidecallError,
    ToolAlreadyRegistered,
    ToolCallFailed,
    ToolException,
    ToolExecutionError,
    ToolNotFound,
    ToolTimeout,
    UnknownApproval,
    UnknownTool,
)
from sidecall.kernel.core.overload import TooManyApprovals


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (SidecallError(), "Something went wrong in Sidecall."),
        (ToolAlreadyRegistered(), "Two tools have the same name."),
        (MalformedArguments(), "The arguments are not a JSON object."),
        (UnknownTool(), "There is no such tool, or it is not visible to you."),
        (CallRejected(), "Tool execution was not approved."),
        (CallRejected(None), "Tool execution was not approved."),
        (CallDenied(""), "The call was refused by a guardrail."),
        (GuardrailTripped(), "A guardrail of the tool refuses this request."),
        (ToolCallFailed(), "The tool failed, and its author lets such a failure reach the calling program."),
        (UnknownApproval(), "There is no such approval, or it has expired."),
        (ApprovalConflict(), "The approval cannot be decided like this any more."),
        (TooManyApprovals(), "So many calls wait for a person's approval that this server takes no more."),
    ],
)
def test_the_docstring_is_the_default_message(error: SidecallError, expected: str) -> None:
    """What a class is for is what it says."""
    assert error.message == expected
    assert str(error) == expected


def test_a_message_of_its_own_replaces_the_docstring() -> None:
    """A raiser may know better."""
    error = SidecallError("The disk is full.")

    assert error.message == "The disk is full."


def test_a_request_error_keeps_what_the_problem_document_adds() -> None:
    """Members beside the message are for problem+json."""
    error = RequestError("Too much.", limit=3)

    assert error.message == "Too much."
    assert error.members == {"limit": 3}


def test_an_unknown_tool_is_said_in_the_words_of_langgraph() -> None:
    """Models have learnt to repair from this sentence."""
    error = ToolNotFound("serch", ["search", "sum"], ["search"], "search")

    assert error.content == "Error: serch is not a valid tool, try one of [search, sum]. Did you mean search?"
    assert error.nearest == ["search"]
    assert error.retryable is False


def test_invalid_arguments_say_one_line_per_field() -> None:
    """The model reads where and why."""
    error = InvalidArguments(
        [
            {"loc": ["filters", 0, "name"], "type": "missing", "msg": "Field required"},
            {"loc": [], "type": "custom", "msg": "They contradict each other"},
        ]
    )

    assert error.content == "filters[0].name: Field required\narguments: They contradict each other"
    assert error.retryable is True


def test_an_argument_that_breaks_two_rules_of_one_sentence_is_named_once() -> None:
    """Only several items of a list are counted."""
    broken = ("minLength", "format")
    error = InvalidArguments([{"loc": ["to", 0], "type": rule, "msg": "Send an address"} for rule in broken])

    assert error.content == "to[0]: Send an address"
    assert [it["type"] for it in error.errors] == ["minLength", "format"]


def test_of_many_invalid_arguments_the_first_hundred_are_named() -> None:
    """A model that reads them all would have no room left to mend them."""
    error = InvalidArguments([{"loc": ["rows", row], "type": "int_type", "msg": "No"} for row in range(250)])

    assert len(error.errors) == 100
    assert error.content.splitlines() == ["rows[*]: No (100 items)", "… and more"]


@pytest.mark.parametrize(
    ("error", "retryable", "retry_after_ms"),
    [
        (ToolException("x"), False, None),
        (ToolException("x", retryable=True), True, None),
        # to say when is to say that
        (ToolException("x", retry_after=1.5), True, 1500),
        (ToolException("x", retry_after=0), True, 0),
    ],
)
def test_a_tool_exception_says_whether_to_try_again(
    error: ToolException, retryable: bool, retry_after_ms: int | None
) -> None:
    """A client program can act on it without reading the text."""
    assert (error.retryable, error.retry_after_ms) == (retryable, retry_after_ms)


def test_a_subclass_of_tool_exception_may_have_a_docstring_of_its_own() -> None:
    """Without arguments it says what LangChain's says."""

    class NoSuchCity(ToolException):
        """Internal notes about the gazetteer."""

    assert NoSuchCity().content == "Tool execution error"


def test_a_crash_is_told_without_its_reason() -> None:
    """The model gets the id that leads the operator to the traceback."""
    error = ToolExecutionError("search", "call_1")

    assert error.content == "Error: search failed unexpectedly (call call_1). The details are in the server's log."


@pytest.mark.parametrize(("seconds", "expected"), [(10.0, "10"), (0.5, "0.5"), (1e-3, "0.001")])
def test_a_timeout_says_how_long_it_waited(seconds: float, expected: str) -> None:
    """Without trailing zeros."""
    assert ToolTimeout("search", seconds).content == f"Error: search timed out after {expected} seconds."


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (CallDenied("No."), "denied"),
        (CallRejected("No."), "rejected"),
        (CallUnanswered("approval_required", "No."), "approval_required"),
    ],
)
def test_a_call_that_somebody_stopped_says_who(error: CallDenied | CallRejected | CallUnanswered, kind: str) -> None:
    """To send it again would not help."""
    assert (error.kind, error.content, error.retryable) == (kind, "No.", False)
