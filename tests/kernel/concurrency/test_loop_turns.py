"""What is made of many things on the event loop is made in portions."""

import asyncio

from sidecall.kernel.concurrency.loop_turns import in_turns, make_each


class Others:
    """Counts how often others may run."""

    def __init__(self) -> None:
        self.turns = 0
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)

    def end(self) -> None:
        """Let nothing of it run on."""
        self._task.cancel()


async def test_others_run_while_much_is_made() -> None:
    """After each portion; what is made keeps its order."""
    others = Others()

    made = await make_each(str, range(1000))

    assert made == [str(number) for number in range(1000)]
    assert others.turns >= 10
    others.end()


async def test_nobody_is_waited_for_where_little_is_made() -> None:
    """A page of usual length costs no turn of the loop."""
    others = Others()

    made = await make_each(str, range(10))

    assert len(made) == 10
    assert others.turns == 0
    others.end()


async def test_the_portions_may_be_smaller() -> None:
    """Where one thing takes longer."""
    others = Others()

    seen = [number async for number in in_turns(range(8), 2)]

    assert seen == list(range(8))
    assert others.turns == 4
    others.end()
