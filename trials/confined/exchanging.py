"""Swap a folder and a link that leads out of a workspace for each other, as fast as one process can."""

import ctypes
import os
import sys

EXCHANGE = 2
_CURRENT = -100


def exchange(inside: str, name: str, other: str, stop: str) -> None:
    """Swap two names in a folder until there is a file of the name `stop` in it."""
    swap = ctypes.CDLL(None, use_errno=True).renameat2
    os.chdir(inside)
    names = name.encode(), other.encode()
    while not os.path.exists(stop):
        for _ in range(500):
            if swap(_CURRENT, names[0], _CURRENT, names[1], EXCHANGE):
                sys.exit(f"renameat2: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    exchange(*sys.argv[1:])
