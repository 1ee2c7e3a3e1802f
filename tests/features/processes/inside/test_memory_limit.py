"""Memory beyond the limit is refused, and only inside it."""

import pytest

from sidecall.features.processes.inside.memory_limit import bounded_memory, writable_bytes

_MB = 1024 * 1024


def test_an_allocation_beyond_the_limit_fails() -> None:
    """As Python code can catch it."""
    with bounded_memory(writable_bytes() + 64 * _MB):
        small = len(bytearray(16 * _MB))
        with pytest.raises(MemoryError):
            bytearray(256 * _MB)

    assert small == 16 * _MB


def test_the_limit_ends_with_the_body() -> None:
    """No matter what the body does."""
    with pytest.raises(ValueError, match="bad luck"), bounded_memory(writable_bytes() + 64 * _MB):
        raise ValueError("bad luck")

    assert len(bytearray(256 * _MB)) == 256 * _MB
