"""Budgets are read from a text, and hold in times of UTC."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from sidecall import Caller
from sidecall.features.costs.budget_settings import Budget, read_budgets
from sidecall.settings import Settings
from tests.kit.calls import write_request

NOON = datetime(2028, 2, 29, 12, 34, 56, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "budgets"),
    [
        ("5.00/day", [Budget(5_000_000_000, "day", "caller")]),
        ("5/day", [Budget(5_000_000_000, "day", "caller")]),
        ("0.000000001/minute", [Budget(1, "minute", "caller")]),
        ("0.5/hour per conversation", [Budget(500_000_000, "hour", "conversation")]),
        ("1/hour, 1/hour per conversation", [Budget(10**9, "hour", "caller"), Budget(10**9, "hour", "conversation")]),
        (" 1/hour per caller ,2/month ", [Budget(10**9, "hour", "caller"), Budget(2 * 10**9, "month", "caller")]),
        ("999999999/month", [Budget(999_999_999 * 10**9, "month", "caller")]),
    ],
)
def test_budgets_are_read(text: str, budgets: list[Budget]) -> None:
    """One or several, each as it is written."""
    assert list(read_budgets(text)) == budgets


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0/day",
            "0.0/day",
            "-1/day",
            "+1/day",
            "1e3/day",
            "nan/day",
            "inf/day",
            ".5/day",
            "5./day",
            "5,00/day",
            "\u0665/day",
        ),
        *("5", "5/", "/day", "5/week", "5/days", "5/DAY", "5 / day", "5/day/caller", "5/day per tool", "5/day per"),
        *("5/day per conversation per caller", "5/day,", ",", "1/day, 2/day", "1/day, 2/day per caller", "$5/day"),
        *("1000000000/day", "0.0000000001/day", "5/day\n0"),
    ],
)
def test_what_is_no_budget_stops_the_start(text: str) -> None:
    """A budget that does not hold is worse than a server that does not start."""
    with pytest.raises(ValidationError, match=r"budget[\s\S]*(write an amount above 0|two budgets for the same time)"):
        Settings(budget=text)


@pytest.mark.parametrize(
    ("unit", "begins", "ends"),
    [
        ("minute", (2028, 2, 29, 12, 34), (2028, 2, 29, 12, 35)),
        ("hour", (2028, 2, 29, 12), (2028, 2, 29, 13)),
        ("day", (2028, 2, 29), (2028, 3, 1)),
        ("month", (2028, 2, 1), (2028, 3, 1)),
    ],
)
def test_a_time_begins_on_the_clock(unit: str, begins: tuple[int, ...], ends: tuple[int, ...]) -> None:
    """Of UTC, in leap years too."""
    [budget] = read_budgets(f"1/{unit}")

    window = budget.find_window(NOON)

    times = [datetime.fromtimestamp(at, UTC) for at in window]
    assert times == [datetime(*at, tzinfo=UTC) for at in (begins, ends)]  # type: ignore[arg-type, misc]
    assert budget.find_window(window.ends_at).begins_at == window.ends_at


@pytest.mark.parametrize(
    ("owner", "is_same"), [("caller", [False, False, True, True]), ("conversation", [False, False, False, True])]
)
def test_calls_count_together(owner: str, is_same: list[bool]) -> None:
    """Those of one caller of a tenant, and for a conversation only those in it."""
    [budget] = read_budgets(f"1/day per {owner}")

    def name(subject: str, tenant: str, conversation: str | None) -> str:
        context = {} if conversation is None else {"conversation_id": conversation}
        return budget.name_owner(write_request("t", {}, caller=Caller(subject, tenant), context=context))

    first = name("ann", "acme", "one")

    others = [("bob", "acme", "one"), ("ann", "evil", "one"), ("ann", "acme", None), ("ann", "acme", "one")]
    assert [name(*other) == first for other in others] == is_same
