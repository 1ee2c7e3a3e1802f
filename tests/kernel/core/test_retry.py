"""An author says how often a tool is tried again, and after what."""

import asyncio
import math
from typing import Any

import pytest

from sidecall import Retry, ToolAnnotations, ToolException, tool
from sidecall.kernel.core.errors import InvalidToolOption


def _tool(**options: Any) -> Any:
    return tool("work", description="Work.", **options)(lambda: None)


def test_the_defaults() -> None:
    """Three attempts, soon after one another, no matter what the tool raises."""
    retry = Retry()

    assert (retry.attempts, retry.wait, retry.max_wait, retry.on) == (3, 0.5, 30.0, (Exception,))


NUMBERS = "a Retry has at least 2 attempts, and 0 <= wait <= max_wait"
KINDS = "the `on` of a Retry is a tuple of exception types"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        pytest.param({"attempts": 1}, NUMBERS, id="no other attempt"),
        pytest.param({"attempts": 0}, NUMBERS, id="none at all"),
        pytest.param({"attempts": True}, NUMBERS, id="a truth is no number"),
        pytest.param({"attempts": "3"}, NUMBERS, id="a text is no number"),
        pytest.param({"attempts": 2.5}, NUMBERS, id="half an attempt"),
        pytest.param({"attempts": None}, NUMBERS, id="no number"),
        pytest.param({"wait": -0.1}, NUMBERS, id="a wait into the past"),
        pytest.param({"wait": "1"}, NUMBERS, id="a wait that is a text"),
        pytest.param({"wait": math.nan}, NUMBERS, id="a wait that is no number"),
        pytest.param({"max_wait": math.nan}, NUMBERS, id="a longest wait that is no number"),
        pytest.param({"wait": 31}, NUMBERS, id="longer than the longest"),
        pytest.param({"wait": 2, "max_wait": 1}, NUMBERS, id="longer than a longest of one's own"),
        pytest.param({"on": ()}, KINDS, id="nothing to be tried after"),
        pytest.param({"on": ValueError}, KINDS, id="a type alone"),
        pytest.param({"on": [ValueError]}, KINDS, id="a list, which isinstance does not take"),
        pytest.param({"on": ("ValueError",)}, KINDS, id="the name of a type"),
        pytest.param({"on": (ValueError(),)}, KINDS, id="an exception"),
        pytest.param({"on": (BaseException,)}, KINDS, id="what ends programs"),
        pytest.param({"on": (asyncio.CancelledError,)}, KINDS, id="what cancels"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], text: str) -> None:
    """At the start, in words."""
    with pytest.raises(InvalidToolOption) as refused:
        Retry(**given)

    assert refused.value.message == text


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"attempts": 2}, id="the fewest attempts"),
        pytest.param({"wait": 0}, id="no wait"),
        pytest.param({"wait": 30}, id="the longest wait at once"),
        pytest.param({"wait": 0, "max_wait": 0}, id="never a wait"),
        pytest.param({"on": (ValueError, OSError)}, id="several types"),
    ],
)
def test_what_makes_sense_is_taken(given: dict[str, Any]) -> None:
    """Up to its bounds."""
    retry = Retry(**given)

    assert {name: getattr(retry, name) for name in given} == given


@pytest.mark.parametrize(
    ("error", "is_covered"),
    [
        (ValueError(), True),
        (ConnectionResetError(), True),  # an OSError
        (KeyError(), False),
        (TimeoutError(), True),  # an OSError too, which the tool raised itself
        (ToolException("Busy.", retryable=True), False),  # of no type that is named
        (asyncio.CancelledError(), False),
        (SystemExit(), False),
    ],
)
def test_only_named_types_are_worth_another_attempt(error: BaseException, is_covered: bool) -> None:
    """And those derived from them."""
    assert Retry(on=(ValueError, OSError)).covers(error) is is_covered


@pytest.mark.parametrize(
    ("error", "is_covered"),
    [
        (ToolException("No such city."), False),
        (ToolException("Busy.", retryable=True), True),
        (ToolException("Busy.", retry_after=0), True),  # says when, so it may
        (RuntimeError(), True),
        (asyncio.CancelledError(), False),
        (KeyboardInterrupt(), False),
        (GeneratorExit(), False),
    ],
)
@pytest.mark.parametrize("on", [(Exception,), (ToolException, RuntimeError)])
def test_a_tool_exception_is_worth_it_when_it_says_so(
    on: tuple[type[Exception], ...], error: BaseException, is_covered: bool
) -> None:
    """The author of the tool knows whether the same call may succeed later."""
    assert Retry(on=on).covers(error) is is_covered


NEEDS = "option `retry` is for tools with annotations=ToolAnnotations(idempotent=True)."


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="nothing said"),
        pytest.param({"annotations": ToolAnnotations()}, id="nothing said about that"),
        pytest.param({"annotations": ToolAnnotations(idempotent=False)}, id="not idempotent"),
        pytest.param({"annotations": ToolAnnotations(read_only=True, idempotent=None)}, id="only read-only"),
    ],
)
def test_only_idempotent_tools_are_tried_again(options: dict[str, Any]) -> None:
    """Running the others twice may do harm."""
    with pytest.raises(InvalidToolOption) as refused:
        _ = _tool(retry=Retry(), **options).compiled

    assert refused.value.message.endswith(NEEDS)


def test_an_idempotent_tool_may_be_tried_again() -> None:
    """Its author says so."""
    offered = _tool(retry=Retry(attempts=5), annotations=ToolAnnotations(idempotent=True))

    assert offered.compiled.options.retry == Retry(attempts=5)
