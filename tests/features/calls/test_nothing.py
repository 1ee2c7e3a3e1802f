"""What many fields begin with is empty, and stays so."""

import pytest

from sidecall.kernel.core.invocation import NOTHING


def test_it_is_an_empty_mapping() -> None:
    """Equal to any other."""
    assert (dict(NOTHING), len(NOTHING), NOTHING == {}, NOTHING.get("a"), "a" in NOTHING) == ({}, 0, True, None, False)


def test_nobody_can_put_anything_in() -> None:
    """Since all calls share it."""
    with pytest.raises(TypeError):
        NOTHING["a"] = 1  # type: ignore[index]
    with pytest.raises(KeyError):
        NOTHING["a"]
