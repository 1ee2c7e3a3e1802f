"""Code that is loaded cannot end the process by `os._exit` without a word, and nobody else notices."""

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from sidecall.kernel.core.errors import DiscoveryError
from sidecall.loading.discovery import discover
from sidecall.loading.modules.loading import ExitRefused, refuse_exits

LEAVE = os._exit


def test_a_file_that_ends_the_process_is_named(here: Path) -> None:
    """With its line; afterwards the function is what it was."""
    (here / "mine.py").write_text("import os\n\nos._exit(0)\n")

    with pytest.raises(DiscoveryError) as refused:
        discover(["mine.py"])

    assert refused.value.message == (
        f"{here}/mine.py:3 cannot be loaded: ExitRefused: os._exit(0) would end the process without a word"
    )
    assert os._exit is LEAVE


def test_processes_that_are_forked_meanwhile_end_as_ever() -> None:
    """A library may fork while it is imported."""
    with refuse_exits():
        child = os.fork()
        if child == 0:
            os._exit(7)
        _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 7


def test_other_threads_end_the_process_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watchdog's, for instance."""
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)

    with refuse_exits():
        try:
            os._exit(1)
        except ExitRefused as error:
            refused = error.message
        thread = threading.Thread(target=lambda: _leave(2))
        thread.start()
        thread.join()

    assert refused == "os._exit(1) would end the process without a word"
    assert codes == [2]


def _leave(code: int) -> None:
    with suppress(ExitRefused):
        os._exit(code)
