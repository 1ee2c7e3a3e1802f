"""What tests of answers that are given again start from."""

import time

import pytest

from tests.features.cache.looking_up import Runs
from tests.kit.virtual_time import running


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ages and deadlines go by the clock of the loop, which jumps."""
    monkeypatch.setattr(time, "monotonic", running().time)


@pytest.fixture
def runs() -> Runs:
    """Give what counts runs."""
    return Runs()
