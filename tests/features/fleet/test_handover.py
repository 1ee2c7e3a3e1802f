"""Work for another thread is done there in its order, and wakes it once."""

import asyncio
from threading import Thread
from typing import Any

from sidecall.features.fleet.handover import Handover


class _CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts how often it was woken."""

    woken = 0

    def call_soon_threadsafe(self, *arguments: Any, **named: Any) -> asyncio.Handle:
        self.woken += 1
        return super().call_soon_threadsafe(*arguments, **named)


def _fail() -> None:
    raise LookupError("of a piece of work")


def test_all_that_waits_is_done_with_one_wake_up() -> None:
    """Also what comes after a piece that fails, and what work hands over itself."""
    loop, done, failed = _CountingLoop(), list[int](), list[str]()
    loop.set_exception_handler(lambda _, said: failed.append(str(said["exception"])))
    handover = Handover(loop)
    for number in range(3):
        handover.call(done.append, number)
    assert loop.woken == 1
    handover.call(_fail)
    handover.call(done.append, 3)
    handover.call(handover.call, done.append, 4)
    handover.call(loop.call_later, 0.01, loop.stop)
    loop.run_forever()
    assert done == [0, 1, 2, 3, 4]
    assert failed == ["of a piece of work"]
    loop.close()
    handover.call(done.append, 5)  # Which nobody does any more.


def test_what_threads_hand_over_at_once_is_done_once_each() -> None:
    """None is lost where one thread adds while another is woken."""
    loop, done = asyncio.SelectorEventLoop(), list[int]()
    handover = Handover(loop)

    def add(number: int) -> None:
        for index in range(5_000):
            handover.call(done.append, number * 5_000 + index)

    threads = [Thread(target=add, args=(number,)) for number in range(4)]
    running = Thread(target=loop.run_forever)
    for thread in (running, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    handover.call(loop.stop)
    running.join()
    loop.close()
    assert sorted(done) == list(range(20_000))
    for number in range(4):  # Each thread's in its order.
        own = [it for it in done if it // 5_000 == number]
        assert own == sorted(own)
