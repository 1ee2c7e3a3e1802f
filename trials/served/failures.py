"""Functions that raise the worst that Python knows."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from sidecall import ToolException
from trials.served.broken_objects import SECRET, Crashing, Unserializable

_MB = 1024 * 1024


def fail() -> None:
    """Raise an exception with a secret in it."""
    raise RuntimeError(f"cannot connect to postgres://admin:{SECRET}@db/main")


def fail_in_chain() -> None:
    """Raise an exception whose cause and context have secrets in them, in a circle."""
    first, second = ValueError(SECRET), KeyError(SECRET)
    first.__cause__, second.__context__ = second, first
    first.add_note(SECRET)
    raise first


def fail_in_group() -> None:
    """Raise a group of exceptions."""
    raise ExceptionGroup(SECRET, [ValueError(SECRET), ExceptionGroup(SECRET, [KeyError(SECRET)])])


def fail_unsayably() -> None:
    """Raise an exception that cannot be printed."""
    raise Crashing


def fail_unsayably_on_purpose() -> None:
    """Raise, for the model, something that cannot be said."""
    raise ToolException(Unserializable())


def fail_at_length() -> None:
    """Raise an exception with a text of 50 MB."""
    raise RuntimeError(SECRET + "x" * 50 * _MB)


def fail_at_length_on_purpose() -> None:
    """Raise, for the model, a text of 50 MB."""
    raise ToolException("x" * 50 * _MB)


def fail_without_end() -> None:
    """Recur until Python gives up."""
    fail_without_end()


def fail_by_attribute() -> None:
    """Raise what carries a document with a secret in it."""
    raise json.JSONDecodeError("bad", SECRET, 0)


def leave() -> None:
    """Raise what ends programs."""
    raise SystemExit(SECRET)


def interrupt() -> None:
    """Raise what Ctrl+C raises."""
    raise KeyboardInterrupt(SECRET)


def cancel() -> None:
    """Raise what cancels tasks."""
    raise asyncio.CancelledError(SECRET)


def stop_iterating() -> None:
    """Raise what ends iterations."""
    raise StopIteration(SECRET)


def close_generator() -> None:
    """Raise what closes generators."""
    raise GeneratorExit(SECRET)


def run_out_of_memory() -> None:
    """Raise what Python raises when there is no memory."""
    raise MemoryError(SECRET)


FAILURES: tuple[Callable[[], Any], ...] = (
    fail, fail_in_chain, fail_in_group, fail_unsayably, fail_unsayably_on_purpose, fail_at_length,
    fail_at_length_on_purpose, fail_without_end, fail_by_attribute, leave, interrupt, cancel, stop_iterating,
    close_generator, run_out_of_memory,
)  # fmt: skip
