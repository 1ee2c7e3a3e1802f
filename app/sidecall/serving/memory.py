"""Give large pieces of memory back to the system as soon as they are free."""

import ctypes
from contextlib import suppress

# M_MMAP_THRESHOLD of malloc.h.
_THRESHOLD = -3
_LARGE = 256 * 1024


def give_memory_back() -> None:
    """Have glibc map each large piece by itself; other systems do as they do.

    By itself it stops doing so after the first that is freed. What small ones lie behind then stays for good: 200 MB,
    after a few answers of 20 MB each.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_THRESHOLD, _LARGE)
