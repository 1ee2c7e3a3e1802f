"""A name in an annotation that cannot be found is told where it has to stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from sidecall import tool
from sidecall.kernel.core.errors import SchemaInferenceError

if TYPE_CHECKING:
    from decimal import Decimal


def pay(amount: Decimal) -> None:
    """Pay."""
    del amount


def make_local() -> Any:
    """Make a function whose annotation is local to this one."""

    class Box(BaseModel):
        """A box."""

    def fill(box: Box) -> None:
        """Fill it."""
        del box

    return fill


class Shop:
    """A shop."""

    class Order(BaseModel):
        """An order."""

    @staticmethod
    def order(order: Order) -> None:
        """Order."""
        del order

    @staticmethod
    def send(order: Shop.Order) -> None:
        """Send."""
        del order


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (pay, "name 'Decimal' is not defined, in the annotation of a parameter. Import it at the top of the module."),
        (make_local(), "Write Box at the top level of the module, or import it there: the annotation is a text"),
        (Shop.order, "Import it at the top of the module; if it stands in the class, write Shop.Order."),
    ],
)
def test_where_a_name_has_to_stand_is_said(function: Any, advice: str) -> None:
    """What is possible there."""
    with pytest.raises(SchemaInferenceError, match=re.escape(advice)):
        assert tool("it")(function).compiled


def test_a_name_in_a_class_is_found_behind_the_class() -> None:
    """As is advised."""
    assert list(tool("it")(Shop.send).compiled.args_schema.flat["properties"]) == ["order"]
