"""Counters of a worker whose numbers are also kept where they outlive it."""

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

from sidecall.features.telemetry.log_writer import count_dropped
from sidecall.features.telemetry.tally import DURATIONS, WAITS, GaugeSources, Tally
from sidecall.http.request_counts import NO_ROUTE
from sidecall.kernel.lifecycle import Counts

# What a block is about, the first word of its key: a tool's durations, its outcomes, requests, and other counters.
CALLS, OUTCOMES, REQUESTS, COUNTERS = "calls", "outcomes", "requests", "counters"
# Where the numbers of a tally stand: calls begun, seconds, seconds waited, and the buckets.
_BUCKETS = 3
_WAITS = _BUCKETS + len(DURATIONS) + 1
_SIZE = _WAITS + len(WAITS) + 1


def write_key(*words: str) -> str:
    """Write the key of a block."""
    return json.dumps(words)


class SharedCounter(dict[Any, Any]):
    """Numbers by keys, each kept also in a block of its own."""

    def __init__(self, counts: Counts, *prefix: str) -> None:
        """Begin with none; the words of `prefix` stand before each key."""
        super().__init__()
        self._counts, self._prefix = counts, prefix
        self._blocks: dict[Any, memoryview[float]] = {}

    def __setitem__(self, key: Any, value: float) -> None:
        super().__setitem__(key, value)
        block = self._blocks.get(key)
        if block is None:
            words = map(str, key if isinstance(key, tuple) else (key,))
            block = self._blocks[key] = self._counts.block(write_key(*self._prefix, *words), 1)
        block[0] = value


class SharedTally(Tally):
    """The tally of one tool."""

    __slots__ = ("_begun", "_block")

    def __init__(self, counts: Counts, tool: str) -> None:
        """Begin with nothing."""
        self._block = counts.block(write_key(CALLS, tool), _SIZE)
        super().__init__()
        self.outcomes = SharedCounter(counts, OUTCOMES, tool)

    @property
    def begun(self) -> int:
        """Calls that have begun."""
        return self._begun

    @begun.setter
    def begun(self, value: int) -> None:
        self._begun = value
        self._block[0] = value

    def end(self, outcome: str, seconds: float, waited: float) -> None:
        """Count a call that has ended."""
        super().end(outcome, seconds, waited)
        block = self._block
        block[1] = self.seconds
        block[_BUCKETS + bisect_left(DURATIONS, seconds)] += 1
        if waited:
            block[2] = self.seconds_waited
            block[_WAITS + bisect_left(WAITS, waited)] += 1


class SharedReadings:
    """Counters that are only read, written down as they are now and then."""

    def __init__(self, counts: Counts) -> None:
        self._values = SharedCounter(counts, COUNTERS)

    def note(self, readings: GaugeSources) -> None:
        """Write down what has changed: by the sample's name, and its labels and their values by turns."""
        for key, value in _read_counters(readings):
            if self._values.get(key) != value:
                self._values[key] = value


def _read_counters(readings: GaugeSources) -> Iterator[tuple[tuple[str, ...], float]]:
    yield ("sidecall_log_lines_dropped_total",), count_dropped()
    for name, (_, read) in readings.counters.items():
        yield (f"{name}_total",), read()
    for name, executor in readings.executors.items():
        yield ("sidecall_executor_killed_total", "executor", name), executor.occupancy.killed
    for status, count in list(readings.unread.items()):  # Others were written down when they were answered.
        yield ("sidecall_requests_total", "route", NO_ROUTE, "status", str(status)), count


def read_tallies(past: Mapping[str, list[float]]) -> dict[str, Tally]:
    """Return the tallies of workers that are gone, by tool; calls that ran there run no more."""
    tallies: dict[str, Tally] = {}
    for (tool,), numbers in _select(past, CALLS):
        tally = tallies[tool] = Tally()
        tally.seconds, tally.seconds_waited = numbers[1], numbers[2]
        tally.restore([int(it) for it in numbers[_BUCKETS:_WAITS]], [int(it) for it in numbers[_WAITS:]])
        tally.begun = tally.ended
    for (tool, outcome), numbers in _select(past, OUTCOMES):
        tallies.setdefault(tool, Tally()).outcomes[outcome] = int(numbers[0])
    return tallies


def read_requests(past: Mapping[str, list[float]]) -> dict[tuple[str, ...], float]:
    """Return the requests that were answered there, by route and status."""
    return {(route, status): numbers[0] for (route, status), numbers in _select(past, REQUESTS)}


def read_counters(past: Mapping[str, list[float]]) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield the other counters: the name of the sample, its labels, its value."""
    for (name, *labels), numbers in _select(past, COUNTERS):
        yield name, dict(zip(labels[::2], labels[1::2], strict=True)), numbers[0]


def _select(past: Mapping[str, list[float]], about: str) -> Iterator[tuple[list[str], list[float]]]:
    for key, numbers in past.items():
        first, *words = json.loads(key)
        if first == about:
            yield words, numbers
