"""What tests of deadlines start from."""

import asyncio

import pytest

from tests.kernel.pipeline.stubborn import Rest, late_event


@pytest.fixture
def rest() -> Rest:
    """Take what is abandoned."""
    return Rest()


@pytest.fixture
async def late() -> asyncio.Event:
    """Give what stubborn code waits for; it comes long after every deadline."""
    return late_event()
