"""A real browser, Chromium without a window, that goes to pages and says what it sees there.

It is told what to do through two pipes, by its DevTools protocol: nothing else is needed, and no port is open.
"""

import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.kit.servers import end
from tests.kit.waiting import PATIENCE

# The first has no window at all, which takes it a quarter of the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--remote-debugging-pipe",
)


def find_browser() -> str | None:
    """Return the path of a browser, if this machine has one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A browser with one page."""

    def __init__(self, commands: int, answers: int) -> None:
        """Open the page.

        Args:
            commands: The descriptor that the browser's commands are written to.
            answers: The descriptor that it answers by.
        """
        self._commands = commands
        self._answers = answers
        self._read = b""
        self._number = 0
        self._events: list[str] = []
        self._session: str | None = None
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")

    def go_to(self, url: str) -> None:
        """Go to a page as a person does, and wait until it and what belongs to it is loaded."""
        self._events.clear()
        told = self._ask("Page.navigate", url=url)
        assert "errorText" not in told, told
        self._wait_for_page()

    def follow(self, script: str) -> None:
        """Run a script that leads to another page, and wait until that is loaded."""
        self._events.clear()
        self.run(script)
        self._wait_for_page()

    def run(self, script: str) -> Any:
        """Run a script in the page, and return what it comes to, or what its promise does.

        Raises:
            AssertionError: It fails.
        """
        told = self._ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def _wait_for_page(self) -> None:
        while "Page.loadEventFired" not in self._events:
            self._hear()

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (told := self._hear()).get("id") != self._number:
            pass
        assert "error" not in told, told
        return told["result"]

    def _hear(self) -> dict[str, Any]:
        """Read what the browser says next, and keep which event it is, if it is one."""
        while b"\0" not in self._read:
            assert select.select([self._answers], [], [], PATIENCE)[0], "the browser does not answer"
            piece = os.read(self._answers, 1 << 16)
            assert piece, "the browser has ended"
            self._read += piece
        text, _, self._read = self._read.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._events.append(message.get("method", ""))
        return message


@contextmanager
def browsing(program: str, folder: Path, *options: str) -> Iterator[Browser]:
    """Start a browser that keeps what it keeps in a folder, and end it."""
    reads, commands = os.pipe()
    answers, writes = os.pipe()
    # It reads from descriptor 3 and writes to 4, which may be taken here.
    start = f'exec "$@" 3</dev/fd/{reads} 4>/dev/fd/{writes}'
    command = ["sh", "-c", start, "sh", program, *_OPTIONS, f"--user-data-dir={folder}", *options]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, pass_fds=(reads, writes), stdout=log, stderr=log)
    os.close(reads)
    os.close(writes)
    try:
        yield Browser(commands, answers)
    finally:
        os.close(commands)
        os.close(answers)
        end(process)
