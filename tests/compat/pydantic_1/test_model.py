"""A model of pydantic 1 is recognized."""

from typing import Any

import pytest
from pydantic import BaseModel, v1

from sidecall.compat.pydantic_1.model import is_v1_model


class Inner(v1.BaseModel):
    """A model of pydantic 1."""

    a: int


class Modern(BaseModel):
    """A model of pydantic 2."""


class Fields:
    """A class that only looks a little like it."""

    __fields__ = ()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(Inner, True), (v1.BaseModel, True), (Modern, False), (Fields, False), (int, False), (list[Inner], False)],
)
def test_models_of_pydantic_1_are_recognized(kind: Any, expected: bool) -> None:
    """By what they have, since the package is not imported."""
    assert is_v1_model(kind) is expected
