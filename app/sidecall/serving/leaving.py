"""End on a signal while nothing is served; imports next to nothing, to be there before everything else is."""

import os
import signal


def leave_on(*numbers: signal.Signals) -> None:
    """End on these signals while nothing is served; the kernel spares process 1 of a container their defaults."""
    for number in numbers:
        signal.signal(number, lambda *_: os._exit(0))
