"""A long-running client: its connection, its credentials, and checks of answers."""

import json
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any

from tests.kit.lines import Answer, Line
from trials.judging import is_refusal

# There was no room, and the client was told so.
REFUSED = "refused"
EVENTS = {"Accept": "text/event-stream"}


class Odd(Exception):
    """An answer is not what it should be."""


class Refused(Exception):
    """There was no room, and the client was told so."""


class Guest:
    """One connection of a caller."""

    def __init__(self, port: int, callers: Mapping[str, Mapping[str, str]], dice: Random) -> None:
        self.port = port
        self.dice = dice
        self._callers = callers
        self._line = Line(port)

    async def ask(
        self,
        method: str,
        path: str,
        said: Any = None,
        *,
        caller: str = "ann",
        headers: Mapping[str, str] | None = None,
        status: int | tuple[int, ...] = 200,
    ) -> Answer:
        """Send a request, JSON unless it is bytes, and return its answer.

        Raises:
            Odd: It has another status.
            Refused: There was no room.
        """
        request = self.write(method, path, said, caller=caller, headers=headers)
        return judge(await self._line.ask(request), status)

    def write(
        self, method: str, path: str, said: Any = None, *, caller: str = "ann", headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Write the bytes of a request."""
        body = said if isinstance(said, bytes) else b"" if said is None else json.dumps(said).encode()
        told = {"Host": "localhost", **self._callers[caller]}
        if said is not None:
            told |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in {**told, **(headers or {})}.items())
        return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body

    async def call(self, name: str, args: Any, **how: Any) -> Answer:
        """Send a call in LangChain's form, with an id of its own."""
        return await self.ask("POST", "/tool_calls", {"name": name, "args": args, "id": self.new_id()}, **how)

    async def leave(self, request: bytes) -> None:
        """Send a request, and close the connection without waiting for its answer."""
        await self._line.hang_up(request, self.dice.uniform(0.001, 0.05))

    def another(self) -> "Guest":
        """Return a second connection of the same callers."""
        return Guest(self.port, self._callers, self.dice)

    def new_id(self) -> str:
        """Return an unused id."""
        return f"call_{self.dice.getrandbits(64):x}"

    def close(self) -> None:
        """Let go of the connection."""
        self._line.close()


# Does one thing; raises what is odd about an answer.
Act = Callable[[Guest], Awaitable[None]]


def judge(answer: Answer, status: int | tuple[int, ...]) -> Answer:
    """Return an answer that has this status, or one of these."""
    if is_refusal(answer):
        raise Refused
    if answer.status not in (status if isinstance(status, tuple) else (status,)):
        raise Odd(answer.failure or f"{answer.status} in place of {status}: {answer.body[:200]!r}")
    return answer


def expect(found: Any, wanted: Any) -> None:
    """Raise what is odd unless the two are equal."""
    if found != wanted:
        raise Odd(f"{str(found)[:200]} in place of {str(wanted)[:100]}")


def expect_kind(answer: Answer, kind: str) -> None:
    """Raise what is odd unless a call failed with this kind, or a problem has this type."""
    if answer.kind != kind:
        raise Odd(f"{answer.kind or 'no failure'} in place of {kind}: {answer.body[:200]!r}")


def read_events(answer: Answer) -> list[tuple[str, Any]]:
    """Return the events of an answer, each with its kind and what it holds."""
    events = []
    for block in answer.body.decode().split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines() if line and not line.startswith(":"))
        if fields:
            events.append((fields.get("event", ""), json.loads(fields.get("data", "null"))))
    return events
