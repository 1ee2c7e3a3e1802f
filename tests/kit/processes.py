"""Processes of others: whether they have ended."""

import os
import select


def has_ended(process: int, seconds: float = 20) -> bool:
    """Wait for the end of a process that may have ended already."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    ended, _, _ = select.select([handle], [], [], seconds)
    os.close(handle)
    return bool(ended)
