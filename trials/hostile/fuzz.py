"""Send a server many malformed requests at a time, and check its answers."""

import asyncio
import itertools
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import uvloop

from tests.kit.servers import Server
from trials.finding import Finding
from trials.hostile.mutations import Attempt, attempt
from trials.schemathesis import Conformance, conform
from trials.serving import serving

REQUESTS = int(os.environ.get("FUZZ_REQUESTS", "100000"))
FIRST_SEED = int(os.environ.get("FUZZ_SEED", "1"))
TOOLS = "trials/served/typed.py"
_SHORTLY = 1000
_CONNECTIONS = 96
# Seconds of silence after which the client says that it has no more to send.
_SILENCE = 0.2
_PATIENCE = 60.0
# One of so many broken requests is not ended, and has to be cut off by the server, within the time for a body.
_LEFT_OPEN = 300
_UNTIL_CUT_OFF = 33.0
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
_PROBLEM = b"application/problem+json"
# MCP has errors of its own.
_RPC = b'{"jsonrpc":"2.0"'

# A transfer coding and a version of HTTP that the server does not know.
_REFUSALS_OF_FORM = frozenset((501, 505))


@dataclass
class Tally:
    """Count what was sent and what came back; what must not be is kept by its seed."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    bad: dict[int, str] = field(default_factory=dict)
    # Returns what else must not be in what came back, if it is there.
    judge: Callable[[bytes], str] = lambda _: ""

    def read(self, seed: int, received: bytes) -> int:
        """Count the answers in what was received, and return how many they are."""
        statuses = statuses_in(received)
        self.statuses.update(statuses)
        crashes = [status for status in statuses if status >= 500 and status not in _REFUSALS_OF_FORM]
        if crashes:
            self.bad[seed] = f"answered with {crashes[0]}"
        elif found := self.judge(received):
            self.bad[seed] = found
        elif sum(status >= 400 for status in statuses) > received.count(_PROBLEM) + received.count(_RPC):
            self.bad[seed] = "an error that is no problem+json"
        return len(statuses)


def statuses_in(received: bytes) -> list[int]:
    """Return the statuses of the answers on a connection; what is only a promise of one is left out."""
    return [status for status in map(int, _STATUS.findall(received)) if status >= 200]


def run_shortly() -> Iterator[Finding]:
    """Try some thousand requests of S1, without Schemathesis."""
    tally = Tally()
    with serving(TOOLS) as server:
        uvloop.run(fuzz(server.port, tally, _SHORTLY, 16))
        crashed = server.log.count("Traceback")
    yield Finding(
        "S1",
        f"{tally.requests:,} mutated requests from seed {FIRST_SEED} on",
        "no 5xx, hang, traceback or error that is no problem",
        f"{sum_up(tally)}; {crashed} tracebacks",
        not tally.bad and not crashed,
    )


def run() -> Iterator[Finding]:
    """Try S1: Schemathesis and the raw fuzzer, at the same time, on one server."""
    with serving(TOOLS) as server:
        before = server.resident_mb()
        began = time.monotonic()
        tally, conformance = uvloop.run(_both(server))
        seconds = time.monotonic() - began
        grown = server.resident_mb() - before
        crashed = server.log.count("Traceback")
    asked = tally.requests + conformance.requests
    yield Finding(
        "S1",
        f"{tally.requests:,} requests mutated byte by byte and value by value, pipelined and torn, from seed "
        f"{FIRST_SEED} on; {conformance.requests:,} of Schemathesis beside them",
        f"{REQUESTS:,} requests; no 5xx, hang, traceback or error that is no problem; ≤ 50 MB more; ≤ 5 min",
        f"{sum_up(tally)}; {conformance}; {crashed} tracebacks; {grown:+.0f} MB; {seconds:.0f} s",
        asked >= REQUESTS and not tally.bad and not crashed and conformance.holds,
        grown <= 50 and seconds <= 300,
    )


async def _both(server: Server) -> tuple[Tally, Conformance]:
    conformance = asyncio.create_task(conform(server, max_examples=60))
    tally = Tally()
    await fuzz(server.port, tally, REQUESTS, _CONNECTIONS, _LEFT_OPEN)
    return tally, await conformance


async def fuzz(
    port: int,
    tally: Tally,
    requests: int,
    connections: int,
    left_open_each: int = 0,
    make: Callable[[int], Attempt] = attempt,
) -> None:
    """Send so many; one of each `left_open_each` broken ones is not ended, and cut off by the server."""
    fuzzing = _Fuzzing(port, requests, left_open_each, tally, make)
    await asyncio.gather(*(_Fuzzer(fuzzing).run() for _ in range(connections)))
    await asyncio.gather(*fuzzing.left_open)


@dataclass
class _Fuzzing:
    """State that all connections share."""

    port: int
    requests: int
    left_open_each: int
    tally: Tally
    make: Callable[[int], Attempt]
    seeds: Iterator[int] = field(default_factory=lambda: itertools.count(FIRST_SEED))
    left_open: set[asyncio.Task[None]] = field(default_factory=set)

    def is_left_open(self, seed: int) -> bool:
        return bool(self.left_open_each) and seed % self.left_open_each == 0


def sum_up(tally: Tally) -> str:
    """Return what came back, and which seeds are bad, in words."""
    found = ", ".join(f"{count:,} with {status}" for status, count in sorted(tally.statuses.items()))
    seeds = ", ".join(f"{seed} {what}" for seed, what in itertools.islice(sorted(tally.bad.items()), 5))
    return f"{found}; {len(tally.bad)} bad ones" + (f" (seeds {seeds})" if tally.bad else "")


class _Fuzzer:
    """Send attempts one after the other, on one connection for as long as that lives."""

    def __init__(self, fuzzing: _Fuzzing) -> None:
        self._fuzzing = fuzzing
        self._tally = fuzzing.tally
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def run(self) -> None:
        """Go on until enough was sent by all."""
        while self._tally.requests < self._fuzzing.requests:
            seed = next(self._fuzzing.seeds)
            made = self._fuzzing.make(seed)
            self._tally.requests += made.requests
            try:
                await self._try(seed, made)
            except OSError as error:
                self._tally.bad[seed] = f"no connection: {error}"
                await asyncio.sleep(_SILENCE)
        self._hang_up()

    async def _try(self, seed: int, made: Attempt) -> None:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._fuzzing.port)
        reader, writer = self._streams
        await _send(writer, made)
        if made.owed is not None:
            if not await self._receive(seed, reader, made.owed):
                self._hang_up()
            return
        self._streams = None
        is_left_open = self._fuzzing.is_left_open(seed)
        watched = _until_closed(self._tally, seed, reader, writer, is_ended=not is_left_open)
        if is_left_open:
            self._fuzzing.left_open.add(asyncio.create_task(watched))
        else:
            await watched

    async def _receive(self, seed: int, reader: asyncio.StreamReader, owed: int) -> bool:
        """Read as many answers as are owed, and tell whether the connection can be used again."""
        received = b""
        try:
            async with asyncio.timeout(_PATIENCE):
                while len(statuses_in(received)) < owed and (read := await reader.read(65536)):
                    received += read
        except TimeoutError:
            self._tally.bad[seed] = "hangs"
        except ConnectionError:
            pass
        count = self._tally.read(seed, received)
        if count < owed:
            self._tally.bad.setdefault(seed, f"only {count} of {owed} answers")
        # What is left of the last body is read with the next answers, and counts for nothing there.
        return count == owed

    def _hang_up(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _send(writer: asyncio.StreamWriter, made: Attempt) -> None:
    with suppress(ConnectionError):  # The server may have had enough before the last piece.
        for piece in made.pieces:
            writer.write(piece)
            await writer.drain()
            # So that each piece is a read of its own.
            await asyncio.sleep(0)


async def _until_closed(
    tally: Tally, seed: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_ended: bool
) -> None:
    """Read until the server closes; it has to when the client says that it has no more to send, and else in time."""
    received = b""
    try:
        if is_ended:
            received = await _until_silent(reader)
            writer.write_eof()
        async with asyncio.timeout(_PATIENCE if is_ended else _UNTIL_CUT_OFF):
            received += await reader.read(-1)
    except TimeoutError:
        tally.bad[seed] = "hangs"
    except (OSError, RuntimeError):
        pass  # It was reset, as is right when there is more to read than anybody wants.
    finally:
        writer.close()
    tally.read(seed, received)


async def _until_silent(reader: asyncio.StreamReader) -> bytes:
    received = b""
    with suppress(TimeoutError):
        while True:
            async with asyncio.timeout(_SILENCE):
                read = await reader.read(65536)
            if not read:
                break
            received += read
    return received
