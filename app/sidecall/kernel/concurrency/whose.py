"""Find the caller for whom the current code works, in any task or thread."""

from contextvars import ContextVar
from typing import Any

from sidecall.kernel.concurrency.turns import CallerKey, key_of

# The Invocation that this code works for, or None. Context variables reach the threads and tasks that a tool starts.
# Its type is said in `kernel/core/current.py`: what an Invocation has waits here, too.
CALL: ContextVar[Any] = ContextVar("sidecall_call", default=None)
#: Of work that is not done for one caller alone.
NOBODY: CallerKey = ("", "")


def find_caller() -> CallerKey:
    """Return the caller of the current call; NOBODY outside of calls."""
    call = CALL.get()
    return NOBODY if call is None else key_of(call.request.caller)
