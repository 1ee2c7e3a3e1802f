"""What authors import from `sidecall` is listed, whole and in order."""

import types

import pytest

import sidecall


def test_all_is_sorted() -> None:
    """As ruff sorts it: by plain string order."""
    assert list(sidecall.__all__) == sorted(sidecall.__all__)


def test_all_is_complete() -> None:
    """Every public name that is no module is in it, and nothing else but the version."""
    public = {
        name
        for name, value in vars(sidecall).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }

    assert set(sidecall.__all__) == public | {"__version__"}


@pytest.mark.parametrize("name", sidecall.__all__)
def test_every_name_is_documented(name: str) -> None:
    """An editor shows it to the author."""
    assert getattr(sidecall, name).__doc__
