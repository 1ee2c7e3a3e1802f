"""What tests of remembered calls start from."""

from functools import partial

import pytest

from tests.kit.clients import MakeClient
from tests.kit.remembered import GO, RAN


@pytest.fixture
def serve(make_client: MakeClient) -> MakeClient:
    """Give a function that makes a client of a server which waits for no call when it ends."""
    RAN.clear()
    GO.clear()
    return partial(make_client, drain_timeout=0)
