"""Look at a server from outside: its contract, its numbers and its spans."""

import asyncio
from collections.abc import Iterator

from bench.trials import contract, series, traces
from bench.trials.finding import Finding
from bench.trials.schemathesis import conform
from bench.trials.server import serving

_SEED = 2


def run() -> Iterator[Finding]:
    """Try O1 to O4."""
    yield _conformance()
    for part in (contract, traces, series):
        yield from part.run()


def _conformance() -> Finding:
    with serving(contract.TOOLS) as server:
        found = asyncio.run(conform(server, max_examples=25, seed=_SEED))
    return Finding(
        "O1",
        "Schemathesis with all its checks, against the document that the server itself gives",
        "0 failures",
        str(found),
        found.holds,
    )
