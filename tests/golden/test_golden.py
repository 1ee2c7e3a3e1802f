"""What users and callers rely on stays as it was recorded, wherever the code stands that does it."""

import pytest

from tests.golden.recording import RECORDED, WRITERS


@pytest.mark.parametrize("name", WRITERS)
def test_it_is_as_it_was_recorded(name: str) -> None:
    """A change that is meant is recorded with `python -m tests.golden.recording`."""
    assert WRITERS[name]() == (RECORDED / f"{name}.txt").read_text()
