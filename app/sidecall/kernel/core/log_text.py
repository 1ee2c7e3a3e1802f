"""Shorten texts for the log: an exception's message may be as long as the value it quotes."""

import traceback
from collections.abc import Callable, Iterable
from types import TracebackType

# Characters that are logged of one thing, and of one exception in a traceback, behind which others and their lines have
# to find room.
MOST = 64 * 1024
_MOST_OF_ONE = 8 * 1024


def shorten(text: str, most: int = MOST) -> str:
    """Keep the head and tail of a text."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def format_error(
    error: BaseException, trace: TracebackType | None = None, hide: Callable[[str], str] = str
) -> list[str]:
    """Format a traceback as a list of texts; long messages are shortened first, since each line costs time.

    Args:
        error: What was raised.
        trace: Where; without it where the error says.
        hide: Takes secrets out of a text.
    """
    short = _shorten_error(error, hide, frozenset())
    return traceback.format_exception(type(short), short, error.__traceback__ if trace is None else trace)


def _shorten_error(error: BaseException, hide: Callable[[str], str], known: frozenset[int]) -> BaseException:
    """Return the error, or a stand-in if its text, or that of a chained error, is long."""
    known |= {id(error)}
    others = [error.__cause__, error.__context__, *(error.exceptions if isinstance(error, BaseExceptionGroup) else ())]
    shorter = [None if other is None or id(other) in known else _shorten_error(other, hide, known) for other in others]
    text = _read_text(error)
    if len(text) <= _MOST_OF_ONE and all(new is old or new is None for new, old in zip(shorter, others, strict=True)):
        return error
    kind = type(error)
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    said = shorten(hide(text), _MOST_OF_ONE)
    members = [it for it in shorter[2:] if it is not None]
    short = BaseExceptionGroup(said, members) if members else type(kind.__name__, (Exception,), named)(said)
    short.__cause__, short.__context__ = shorter[:2]
    short.__suppress_context__ = error.__suppress_context__
    return short.with_traceback(error.__traceback__)


def _read_text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # Code of the author's, which may crash.
        return ""


def join_traceback(parts: Iterable[str]) -> str:
    """Join the parts of a traceback, each shortened first."""
    return shorten("".join(shorten(part, _MOST_OF_ONE) for part in parts))
