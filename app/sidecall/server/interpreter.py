"""How the interpreter of a process is set that serves calls for long."""

import ctypes
import gc
import sys
from contextlib import suppress

# Seconds after which a thread that computes lets another run; Python's own is 5 ms. An answer takes the event loop
# several turns, and it may wait this long before each.
_TURN = 0.001
# M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_ARENA_MAX of malloc.h.
_UNUSED, _THRESHOLD, _ARENAS = -1, -3, -8

_LARGE = 256 * 1024
# How much the end of the heap keeps. What is not kept, the kernel takes and fills with zeros for each large answer.
_KEPT = 8 * 1024 * 1024


def settle_in() -> None:
    """Set all of it, once what is loaded at the start is there."""
    gc.collect()
    spare_the_collector()
    sys.setswitchinterval(_TURN)
    give_memory_back()


def spare_the_collector() -> None:
    """Freeze loaded objects and raise the garbage collector's thresholds.

    Loaded modules are permanent, and thousands of waiting calls are no garbage; walking through them takes longer than
    serving them.
    """
    gc.freeze()
    gc.set_threshold(50_000, 5, 100)
    gc.enable()


def give_memory_back() -> None:
    """Make glibc map each large block separately and use one heap for the others; does nothing on other systems.

    By default glibc stops mapping after the first such block is freed, and small blocks then keep the heap: 200 MB,
    after a few answers of 20 MB each. A heap per tool thread would take another 30 MB without a gain, since threads
    take turns.
    """
    with suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_THRESHOLD, _LARGE)
        libc.mallopt(_UNUSED, _KEPT)
        libc.mallopt(_ARENAS, 1)
