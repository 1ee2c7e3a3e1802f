"""Callers take turns, and the calls of each follow in their order."""

import asyncio

import pytest

from sidecall.kernel.concurrency.fair_queue import CallerKey, Turns
from sidecall.kernel.core.context import Caller
from tests.kernel.pipeline.entering import ANN, BOB, Server

pytestmark = pytest.mark.virtual_time


@pytest.mark.parametrize(
    ("came", "turns"),
    [
        ("", ""),
        ("a1", "a1"),
        ("a1 a2 a3", "a1 a2 a3"),
        ("a1 a2 a3 b1", "a1 b1 a2 a3"),
        ("a1 a2 a3 b1 b2 c1", "a1 b1 c1 a2 b2 a3"),
    ],
)
async def test_each_caller_has_one_turn_in_a_round(came: str, turns: str) -> None:
    """However many of its calls wait."""
    waiting, names = Turns(), {}
    for name in came.split():
        place = asyncio.get_running_loop().create_future()
        names[place] = name
        waiting.join(("default", name[0]), place)
    order = []
    while waiting.callers:
        order.append(names[waiting.next()])

    assert " ".join(order) == turns
    with pytest.raises(LookupError):
        waiting.next()


async def test_whoever_leaves_has_no_turn() -> None:
    """Nor does it matter that it left twice, or was not there."""
    waiting, ann = Turns(), ("default", "ann")
    first, second = (asyncio.get_running_loop().create_future() for _ in range(2))
    waiting.join(ann, first)
    waiting.join(ann, second)
    nobody: CallerKey = ("acme", "ann")

    for caller, place in ((ann, first), (ann, first), (nobody, second)):
        waiting.drop(caller, place)

    assert waiting.next() is second
    assert not waiting.callers


async def test_whoever_had_a_turn_without_waiting_comes_last() -> None:
    """As if it had waited; a caller of whom nothing waits changes nothing."""
    waiting: Turns[str] = Turns()
    for name in ("a1", "a2", "b1", "c1"):
        waiting.join(("default", name[0]), name)

    waiting.postpone(("default", "a"))
    waiting.postpone(("default", "d"))

    assert [waiting.next() for _ in range(4)] == ["b1", "c1", "a1", "a2"]


async def test_a_flood_holds_another_caller_up_by_one_call() -> None:
    """Of the same name in another tenant, too."""
    server, order = Server(concurrency=1), list[str]()

    async def come(name: str, caller: Caller) -> None:
        await server.call(caller=caller)
        order.append(name)

    callers = {"ann": ANN, "bob": BOB, "ann of acme": Caller("ann", tenant="acme")}
    names = [*["ann"] * 5, "bob", "bob", "ann of acme"]
    await asyncio.gather(*(come(name, callers[name]) for name in names))

    assert order == ["ann", "ann", "bob", "ann of acme", "ann", "bob", "ann", "ann"]
    assert server.crowd == (0, 0)
