"""A misspelt name is recognised among thousands, and is compared with few of them."""

import pytest

from sidecall.kernel.suggest.fuzzy_match import NameIndex
from tests.kit.costs.steps import count_steps

VERBS = ["get", "list", "create", "update", "delete", "search", "archive", "send", "move", "copy"]
THINGS = ["order", "invoice", "customer", "report", "file", "message", "event", "issue", "branch", "ticket"]
PLACES = [f"{place}{number}" for place in ("office", "shop", "store", "depot", "plant") for number in range(10)]
MANY = NameIndex([f"{verb}_{thing}_{place}" for verb in VERBS for thing in THINGS for place in PLACES])
SHORT = NameIndex(["sum", "git", *MANY.names])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("delete_invoice_shop7", "delete_invoice_shop7"),
        ("delete_invioce_shop7", "delete_invoice_shop7"),
        ("DeleteInvoiceShop7", "delete_invoice_shop7"),
        ("delet_invoce_shop7", "delete_invoice_shop7"),
        ("smu", "sum"),
        ("gti", "git"),
        ("zzz", None),
        ("", None),
    ],
)
def test_a_slip_is_recognised_among_thousands(name: str, expected: str | None) -> None:
    """By its rarest letters, and those of short names."""
    assert SHORT.find_resembling(name) == expected
    assert SHORT.find_nearest(name)[:1] == ([] if expected is None else [expected])


def test_few_names_are_all_compared() -> None:
    """Also with those that share no letters in the same places."""
    index = NameIndex(["quantity", "price"])

    assert index.choose("qty") == ("quantity", "price")
    assert index.find_resembling("qty") == "quantity"


@pytest.mark.parametrize("name", ["delete_invioce_shop7", "list_order_office", "zq" * 50_000, "office" * 20])
def test_a_name_takes_few_steps_among_thousands(name: str) -> None:
    """All 5,000 would take some 100,000."""
    MANY.choose("once")

    steps, _ = count_steps(lambda: (MANY.find_nearest(name), MANY.find_resembling(name)))

    assert steps < 12_000
