"""What a tool raises in its process is raised in the server."""

from typing import Any

import fastapi
import pytest

from sidecall import ToolException
from sidecall.features.processes.child import Frames, pack
from sidecall.features.processes.failures import ToolCrashed, raise_failure, write_failure
from sidecall.kernel.core.errors import InvalidArguments, SidecallError, ToolOutputError
from sidecall.kernel.core.overload import (
    CallRefused,
    Overloaded,
    StoreUnavailable,
    TooManyApprovals,
    read_http_exception,
)
from sidecall.kernel.json_data.to_json import render_failure


class Needy(Exception):
    """Cannot be made of a text."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(one, two)


class Silent(Exception):
    """Has no text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Unwritable:
    """Has no text either."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Mute(ToolException):
    """Says nothing of itself."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Worded(ToolException):
    """Says something else than what it was given."""

    @property
    def message(self) -> str:
        """Its own words."""
        return "worded"


def caught(error: Exception) -> Exception:
    """Raise an error, for the traceback that comes of raising it."""
    with pytest.raises(type(error)) as raising:
        raise error
    return raising.value


def raised(error: BaseException) -> BaseException:
    """Send an error across."""
    with pytest.raises(Exception) as caught:
        raise_failure(next(Frames().feed(pack("answer", "1", write_failure(error)))).content)
    return caught.value


@pytest.mark.parametrize(
    "error",
    [CallRefused("No room there.", retry_after=7), Overloaded("No room there.", retry_after=7)],
    ids=["typed", "of a kind"],
)
def test_a_refusal_for_want_of_room_stays_one(error: Overloaded) -> None:
    """As in a thread, with the time after which to come again."""
    crossed = raised(error)

    assert type(crossed) is CallRefused
    assert (crossed.message, crossed.retry_after) == ("No room there.", 7)
    assert isinstance(raised(TooManyApprovals()), ToolCrashed)


def test_a_tool_exception_keeps_what_it_says() -> None:
    """Its content, and whether the call may be tried again."""
    crossed = raised(ToolException({"rows": (1,)}, retry_after=1.5))

    assert isinstance(crossed, ToolException)
    assert (crossed.args, render_failure(crossed)) == (({"rows": [1]},), '{"rows": [1]}')
    assert (crossed.retryable, crossed.retry_after_ms) == (True, 1500)


@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ToolException("a", object()), "a"),
        (ToolException("a", "b"), "a"),
        (ToolException(object()), "Tool execution error"),
        (ToolException(Unwritable()), "Tool execution error"),
        (Mute("a"), "a"),
        (Worded("a"), "worded"),
        (ToolException(), "Tool execution error"),
        (ToolException(""), "Tool execution error"),
        (ToolException(None), "null"),
        (ToolException({1}), "[1]"),
        (ToolException("grün \ud800"), "grün \ud800"),
        (ToolException("long " * 20_000), "long " * 20_000),
    ],
    ids="object-beside two object unwritable mute worded none empty null set surrogate long".split(),
)
def test_the_model_reads_the_same_of_a_tool_exception(error: ToolException, content: str) -> None:
    """Wherever it was raised."""
    crossed = raised(error)

    assert isinstance(crossed, ToolException)
    assert (render_failure(error), render_failure(crossed)) == (content, content)


def test_a_store_that_is_away_is_no_crash() -> None:
    """The model reads the same of it as of a tool in the server."""
    crossed = raised(StoreUnavailable())

    assert isinstance(crossed, ToolException)
    assert render_failure(crossed) == "What tools remember cannot be reached just now."
    assert (crossed.retryable, crossed.retry_after_ms) == (True, 5000)


def test_of_what_is_for_the_log_alone_no_more_crosses_than_the_log_keeps() -> None:
    """Where it was raised stays readable behind a text without end."""
    said = write_failure(caught(ValueError("x" * 1_000_000)))

    assert len(said["text"]) == 65_536
    assert len(said["traceback"]) < 10_000
    assert "in caught" in said["traceback"]
    assert "characters left out" in said["traceback"]


def test_other_failures_are_the_same_failures() -> None:
    """Their texts are what the model reads."""
    invalid = raised(InvalidArguments([{"loc": ["a", 0], "type": "missing", "msg": "Field required"}]))
    output = raised(ToolOutputError("Error: no."))

    assert isinstance(invalid, InvalidArguments)
    assert invalid.content == "a[0]: Field required"
    assert isinstance(output, ToolOutputError)
    assert output.content == "Error: no."


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (KeyError("no"), KeyError, "'no'"),
        (FileNotFoundError(2, "No such file", "/x"), FileNotFoundError, "[Errno 2] No such file: '/x'"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), UnicodeDecodeError, "'utf-8' codec can't decode byte 0xff"),
        (Needy(1, 2), Needy, "(1, 2)"),
        (Silent(), Silent, "Silent"),
        (ExceptionGroup("many", [ValueError()]), Exception, "many (1 sub-exception)"),  # made in a way of its own
        (SystemExit(3), ToolCrashed, "3"),  # must not end the server
        (SidecallError("ours"), ToolCrashed, "ours"),  # means something else in the server
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_a_crash_is_known_by_the_class_of_its_exception(error: Any, kind: type[Exception], text: str) -> None:
    """So that `Retry(on=...)` and error functions see what they would see of a thread."""
    crossed = raised(error)

    assert isinstance(crossed, ToolCrashed)
    assert isinstance(crossed, kind)
    assert not isinstance(crossed, SidecallError)
    assert str(crossed).startswith(text)
    assert "Traceback" in crossed.__notes__[0] or type(error).__name__ in crossed.__notes__[0]


def test_a_success_raises_nothing() -> None:
    """There is nothing to raise."""
    raise_failure({"kind": "value", "content": 1})


@pytest.mark.parametrize(("error", "is_worn"), [(MemoryError(), True), (ValueError(), False)])
def test_who_ran_out_of_memory_is_worn(error: Exception, is_worn: bool) -> None:
    """Its process serves no more."""
    assert write_failure(error)["is_worn"] is is_worn


@pytest.mark.parametrize(
    ("detail", "content"),
    [("No such user.", "No such user."), ({"user": (7,)}, {"user": [7]}), (object(), "Tool execution error")],
)
def test_an_http_exception_crosses_with_what_it_says(detail: Any, content: Any) -> None:
    """Both as what it is, for `Retry(on=...)`, and for the model."""
    crossed = raised(fastapi.HTTPException(429, detail, {"Retry-After": "3"}))
    read = read_http_exception(crossed)

    assert isinstance(crossed, fastapi.HTTPException)
    assert read is not None
    assert (read.content, read.details["http_status"], read.retryable) == (content, 429, True)
