"""Return large blocks of memory to the system as soon as they are free."""

import ctypes
from contextlib import suppress

# M_MMAP_THRESHOLD and M_ARENA_MAX of malloc.h.
_THRESHOLD = -3
_ARENAS = -8
_LARGE = 256 * 1024


def give_memory_back() -> None:
    """Make glibc map each large block separately and use one heap for the others; does nothing on other systems.

    By default glibc stops mapping after the first such block is freed, and small blocks then keep the heap: 200 MB,
    after a few answers of 20 MB each. A heap per tool thread would take another 30 MB without a gain, since threads
    take turns.
    """
    with suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_THRESHOLD, _LARGE)
        libc.mallopt(_ARENAS, 1)
