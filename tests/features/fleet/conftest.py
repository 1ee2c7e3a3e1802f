"""A fleet for each module, with the tools of one file."""

from collections.abc import Iterator

import pytest

from tests.features.fleet.fleet_tools import TOOLS
from tests.kit.fleets import Fleet
from tests.kit.forked import origin
from tests.kit.nats import Broker, broker

__all__ = ["broker", "origin"]


@pytest.fixture(scope="module")
def fleet(origin: None, broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Give what starts servers and workers, which end with the module."""
    folder = tmp_path_factory.mktemp("fleet")
    tools = folder / "fleet_tools.py"
    tools.write_text(TOOLS)
    made = Fleet(broker, folder, tools)
    try:
        yield made
    finally:
        made.close()
