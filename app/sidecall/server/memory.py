"""Give large pieces of memory back to the system as soon as they are free."""

import ctypes
from contextlib import suppress

# M_MMAP_THRESHOLD and M_ARENA_MAX of malloc.h.
_THRESHOLD = -3
_ARENAS = -8
_LARGE = 256 * 1024


def give_memory_back() -> None:
    """Have glibc map each large piece by itself, and take the others from one heap; other systems do as they do.

    By itself it stops doing so after the first that is freed. What small ones lie behind then stays for good: 200 MB,
    after a few answers of 20 MB each. A heap for each thread of a tool keeps another 30 MB, and wins nothing where
    threads take turns.
    """
    with suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_THRESHOLD, _LARGE)
        libc.mallopt(_ARENAS, 1)
