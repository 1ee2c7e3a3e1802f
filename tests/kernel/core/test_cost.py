"""Amounts are added exactly, and what is none is refused."""

import threading
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from sidecall import ToolContext, tool
from sidecall.kernel.core.cost import MOST, CallCost, write_amount
from sidecall.kernel.core.errors import InvalidToolOption

NOT_NUMBERS: list[Any] = [True, False, "0.1", b"1", None, [], {}, 1j, Fraction(1, 3)]
NOT_AMOUNTS: list[Any] = [
    *(-1, -0.001, Decimal("-1"), -(10**400)),
    *(float("nan"), float("inf"), float("-inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
    *(MOST + 1, 1e300, 10**400, Decimal("1e999999"), Decimal("1000000.000000001")),
]


def make_context() -> ToolContext:
    """Make a context as a test of a tool does."""
    return ToolContext(context={}, tool_name="t", tool_call_id="1")


@pytest.mark.parametrize(
    ("amounts", "cost"),
    [
        ([0.1, 0.1, 0.1], 0.3),
        ([0.1, 0.2], 0.3),
        ([0.1 + 0.2], 0.3),
        ([0.005] * 1000, 5.0),
        ([1e-10] * 10, 1e-09),
        ([4e-10], 0.0),
        ([5e-324], 0.0),
        ([1e-15] * 999, 0.0),
        ([Decimal("0.1"), 0.1, 1], 1.2),
        ([Decimal("1e-999999")], 0.0),
        ([0, 0.0, -0.0, Decimal("-0")], 0.0),
        ([MOST], 1_000_000.0),
        ([123456.123456789], 123456.123456789),
    ],
)
def test_amounts_are_added_as_they_are_written(amounts: list[Any], cost: float) -> None:
    """Without what binary fractions add, no matter how precise the author's own decimals are."""
    context = make_context()

    with localcontext(prec=2):
        for amount in amounts:
            context.add_cost(amount)

    assert context.cost == cost


@pytest.mark.parametrize("amount", NOT_NUMBERS, ids=repr)
def test_what_is_no_number_is_no_cost(amount: Any) -> None:
    """Also where Python counts with it, as with True."""
    context = make_context()

    with pytest.raises(TypeError, match=f"a cost is a number.*{type(amount).__name__}"):
        context.add_cost(amount)

    assert context.cost == 0.0


@pytest.mark.parametrize("amount", NOT_AMOUNTS, ids=lambda amount: repr(amount)[:20])
def test_amounts_have_bounds(amount: Any) -> None:
    """What was added before stays."""
    context = make_context()
    context.add_cost(1)

    with pytest.raises(ValueError, match="a cost is a number from 0 to 1000000"):
        context.add_cost(amount)

    assert context.cost == 1.0


def test_a_call_costs_a_million_at_most() -> None:
    """However it comes to that."""
    context = make_context()
    context.add_cost(MOST)

    with pytest.raises(ValueError, match=r"1000000 at most, and this one costs 1000000\.00"):
        context.add_cost(0.000000001)

    assert context.cost == MOST


def test_threads_add_together() -> None:
    """No amount is lost, and a copy of the context is of the same call."""
    context = make_context()
    copy = context.with_context({"other": True})

    def add() -> None:
        for _ in range(2000):
            copy.add_cost(0.001)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (context.cost, copy.cost) == (8.0, 8.0)


def test_who_asks_for_more_hears_what_is_added_later() -> None:
    """In billionths, and only as far as they are whole."""
    cost, heard = CallCost(), list[int]()
    cost.add(0.5)

    so_far = cost.hear_more(heard.append)
    for amount in (0.25, 4e-10, 4e-10):
        cost.add(amount)

    assert (so_far, heard) == (500_000_000, [250_000_000, 1])


@pytest.mark.parametrize("given", [*NOT_NUMBERS, *NOT_AMOUNTS], ids=lambda given: repr(given)[:20])
def test_the_option_takes_what_the_method_takes(given: Any) -> None:
    """Anything else stops the start, with the place; None stands for no cost."""
    if given is None:
        return

    with pytest.raises(InvalidToolOption, match=r"tool 'priced': option `cost`: .*a cost is a number"):

        @tool(cost=given)
        def priced() -> str:
            """Cost something."""
            return ""


@pytest.mark.parametrize(
    ("billionths", "text"),
    [(5_000_000_000, "5.00"), (5_000_000, "0.005"), (0, "0.00"), (1, "0.000000001"), (-(10**8), "-0.10")],
)
def test_amounts_are_written_with_two_places_at_least(billionths: int, text: str) -> None:
    """As on a bill."""
    assert write_amount(billionths) == text
