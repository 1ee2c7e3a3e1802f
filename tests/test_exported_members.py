"""What authors import from `app` is listed, whole and in order."""

import types

import pytest

import app


def test_all_is_sorted() -> None:
    """As ruff sorts it: by plain string order."""
    assert list(app.__all__) == sorted(app.__all__)


def test_all_is_complete() -> None:
    """Every public name that is no module is in it, and nothing else but the version."""
    public = {
        name
        for name, value in vars(app).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }

    assert set(app.__all__) == public | {"__version__"}


@pytest.mark.parametrize("name", app.__all__)
def test_every_name_is_documented(name: str) -> None:
    """An editor shows it to the author."""
    assert getattr(app, name).__doc__
