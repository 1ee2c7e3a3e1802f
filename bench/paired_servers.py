"""Servers that differ in one setting, told apart to a hundredth: called at the same moments, over many starts.

A busy moment of the machine then hits them alike. Two processes of one program differ by a hundredth too, by where
things lie in their memory, so many are started.
"""

import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

from bench.environments import Unavailable
from bench.load import Pace, Request, drive, new_client, verify
from bench.machine import Cores
from bench.servers import Running, Server, running

STARTS_A_ROUND = 2
_TURNS_A_START = 3


def call_pairs(
    servers: Mapping[str, Server], request: Request, starts: int, cores: Cores
) -> tuple[dict[str, list[Pace]], dict[str, str]]:
    """Start the servers so often, in another order each time, and call all of them at once.

    Returns the paces of each, and the servers that have none, with the reason.
    """
    paces: dict[str, list[Pace]] = {name: [] for name in servers}
    names = list(servers)
    try:
        for number in range(starts):
            first = number % len(names)
            turned = {name: servers[name] for name in names[first:] + names[:first]}
            for name, taken in _call_at_once(turned, request, cores).items():
                paces[name] += taken
    except Unavailable as error:
        return {}, dict.fromkeys(servers, str(error))
    return paces, {}


def join_turns(turns: Sequence[float]) -> list[float]:
    """Return the mean of the turns of each start."""
    starts = range(0, len(turns), _TURNS_A_START)
    return [statistics.fmean(turns[start : start + _TURNS_A_START]) for start in starts]


def _call_at_once(servers: Mapping[str, Server], request: Request, cores: Cores) -> dict[str, list[Pace]]:
    """Call new servers in turns that all of them have together.

    Raises:
        Unavailable: One of them does not answer as it should.
    """
    with ExitStack() as stack:
        started: list[Running] = [stack.enter_context(running(server, cores)) for server in servers.values()]
        with new_client() as client:
            for server in started:
                verify(client, server.url, request)
        together = stack.enter_context(ThreadPoolExecutor(len(started)))
        turns = [list(together.map(partial(drive, request=request), started)) for _ in range(1 + _TURNS_A_START)]
    # The first is a warm-up.
    return {name: [turn[place] for turn in turns[1:]] for place, name in enumerate(servers)}
