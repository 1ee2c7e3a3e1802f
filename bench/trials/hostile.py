"""Send a server the worst that clients and tools can do."""

from collections.abc import Iterator

from bench.trials import bombs, floods, fuzz, loris, outputs
from bench.trials.finding import Finding


def run() -> Iterator[Finding]:
    """Try S1 to S6."""
    for part in (fuzz, bombs, floods, loris, outputs):
        yield from part.run()
