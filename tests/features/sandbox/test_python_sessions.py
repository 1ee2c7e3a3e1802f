"""Pythons that remember end when nobody uses them, and when others need their room."""

import os
from pathlib import Path

from sidecall.features.sandbox.python_programs import starter_in_bubblewrap
from sidecall.features.sandbox.python_sessions import PythonSessions
from sidecall.kernel.ports.sandbox import PythonEnd
from tests.features.sandbox.machine import LIMITS, open_once
from tests.kit.processes import list_descendants
from tests.kit.waiting import until


class Sessions:
    """Sessions, and folders for them."""

    def __init__(self, place: Path, most: int, idle_seconds: float) -> None:
        backend = open_once().backend
        assert backend is not None
        self.pythons = PythonSessions(starter_in_bubblewrap(backend, LIMITS), most, idle_seconds)
        self._place = place

    async def run(self, code: str, name: str = "one") -> PythonEnd:
        """Run code in the session of a folder."""
        directory = self._place / name
        directory.mkdir(exist_ok=True)
        return await self.pythons.run(code, directory, 20)


def count_pythons() -> int:
    """Count those that run inside sandboxes."""
    return len(list_descendants(os.getpid(), "bwrap"))


async def test_a_session_that_nobody_uses_ends(tmp_path: Path) -> None:
    """With its process; a model that comes back is told that names are gone."""
    sessions = Sessions(tmp_path, 16, 0.05)
    before = count_pythons()
    await sessions.run("x = 41")
    await until(lambda: count_pythons() == before)
    again = await sessions.run("'x' in globals()")
    await sessions.pythons.close()

    assert again.value == "False"
    assert again.lost == "Python was not used for a while; names that earlier code has set are gone (state lost)."


async def test_a_session_in_use_does_not_end(tmp_path: Path) -> None:
    """Its time begins when its code has ended."""
    sessions = Sessions(tmp_path, 16, 0.2)
    slow = await sessions.run("import time\ntime.sleep(0.4)\nx = 41")
    kept = await sessions.run("x")
    await sessions.pythons.close()

    assert (slow.lost, kept.value, kept.lost) == (None, "41", None)


async def test_the_session_unused_longest_makes_room(tmp_path: Path) -> None:
    """And only that one."""
    sessions = Sessions(tmp_path, 2, 600)
    for name in ("one", "two", "three"):
        await sessions.run("x = 1", name)
    ends = {name: await sessions.run("'x' in globals()", name) for name in ("three", "two", "one")}
    await sessions.pythons.close()

    assert [end.value for end in ends.values()] == ["True", "True", "False"]
    assert ends["one"].lost == "Others needed the room; names that earlier code has set are gone (state lost)."
