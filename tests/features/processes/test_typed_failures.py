"""A process may write anything in place of a failure: only what failures have is read of it."""

from typing import Any

import pytest

from sidecall import ToolException
from sidecall.features.processes.typed_failures import (
    read_typed,
    restore_own_class,
    write_own_class,
    write_typed,
)
from sidecall.kernel.core.errors import CallDenied, ToolNotConfigured
from sidecall.kernel.core.overload import BudgetSpent, CallRefused, NoWorker


class Wordy(ToolException):
    """Says what is not carried."""

    def __init__(self, said: object) -> None:
        super().__init__("a", said)
        self.said = said

    @property
    def message(self) -> str:
        """What it says."""
        return f"{type(self.said).__name__}"


@pytest.mark.parametrize(
    "error",
    [
        CallDenied("no"),
        ToolNotConfigured("no", "KEY"),
        CallRefused("no", retry_after=3),
        NoWorker(),
        BudgetSpent("Spent.", "Later.", retry_after=9, budget={"left": 0.5}),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_is_the_same_again(error: Any) -> None:
    """With all that its class sets."""
    made = read_typed(write_typed(error))

    assert type(made) is type(error)
    assert (made.args, vars(made)) == (error.args, vars(error))


@pytest.mark.parametrize(
    "changed",
    [
        {"classes": [["builtins", "KeyboardInterrupt"]]},
        {"classes": [["sidecall.kernel.core.errors", "BodyTooLarge"]]},
        {"classes": [["sidecall.kernel.core.errors", "SidecallError"]]},
        {"state": {"headers": {"Set-Cookie": "a"}}},
        {"state": {"retry_after": "7\r\nA: b"}},
        {"state": {"retry_after": True}},
        {"state": {"args": [1]}},
        {"state": {"__class__": "a"}},
    ],
)
def test_what_no_failure_says_is_refused(changed: dict[str, Any]) -> None:
    """Its call is a crash then."""
    written = write_typed(CallRefused("no", retry_after=3))

    with pytest.raises(TypeError):
        read_typed(written | changed)


def test_a_class_that_says_something_else_without_what_is_left_out_is_not_made_again() -> None:
    """What the model reads is certain; the class is for handlers."""
    said = restore_own_class(ToolException("str"), write_own_class(Wordy("a")))
    lost = restore_own_class(ToolException("object"), write_own_class(Wordy(object())))

    assert (type(said), type(lost)) == (Wordy, ToolException)
    assert lost.content == "object"


def test_an_attribute_cannot_take_the_place_of_one_that_failures_have() -> None:
    """Of an exception of the author's own class, which a process may write as it likes."""
    written = {**write_own_class(Wordy("a")), "own": {"said": "a", "kind": "denied", "content": "b"}}
    made = restore_own_class(ToolException("str"), written)

    assert (type(made), made.kind, made.content) == (Wordy, "tool_error", "str")
