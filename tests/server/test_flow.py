"""What a client does not read is counted with the events that wait for others."""

import pytest

from sidecall.http.backlog import Backlog
from sidecall.server.responses import Flow
from tests.kit.asgi import Wire


class Network(Wire):
    """A network that can be cut."""

    def abort(self) -> None:
        """Be closed."""
        self.is_open = False


class Clients:
    """Clients, of whose answers 100 bytes may wait."""

    def __init__(self, count: int) -> None:
        backlog = Backlog(100)
        self.wires = [Network() for _ in range(count)]
        self.flows = [Flow(wire, backlog) for wire in self.wires]

    @property
    def open(self) -> list[int]:
        """The numbers of those that are still connected."""
        return [number for number, wire in enumerate(self.wires) if wire.is_open]


async def test_the_one_that_has_stood_still_for_longest_is_cut_off() -> None:
    """The others get their answers."""
    clients = Clients(3)
    for flow in clients.flows:
        flow.keep(50)

    assert clients.open == [1, 2]


async def test_one_that_reads_slowly_is_not_the_first() -> None:
    """Nor does it count twice."""
    clients = Clients(3)
    for flow in clients.flows[:2]:
        flow.keep(50)
    clients.flows[0].look(20, is_moving=True)
    clients.flows[2].keep(50)

    assert clients.open == [0, 2]
    assert [flow.size for flow in clients.flows] == [50, 0, 50]


@pytest.mark.parametrize("end", ["resume_writing", "forget"])
async def test_what_was_read_does_not_count(end: str) -> None:
    """There is room for others."""
    clients = Clients(2)
    clients.flows[0].keep(90)
    getattr(clients.flows[0], end)()
    clients.flows[1].keep(90)

    assert clients.open == [0, 1]


async def test_small_answers_count_when_they_are_seen() -> None:
    """Nobody is told of them before."""
    clients = Clients(3)
    for flow in clients.flows:
        flow.look(40, is_moving=False)

    assert clients.open == [1, 2]
    clients.flows[1].look(0, is_moving=True)
    assert clients.flows[1].size == 0


async def test_a_single_answer_may_be_larger_than_the_room() -> None:
    """While nothing else waits."""
    clients = Clients(2)
    clients.flows[0].keep(200)
    assert clients.open == [0, 1]

    clients.flows[1].keep(10)
    assert clients.open == [1]
