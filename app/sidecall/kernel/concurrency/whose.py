"""For whom the code that runs works, in whatever task or thread that is."""

from contextvars import ContextVar
from typing import Any

from sidecall.kernel.concurrency.turns import CallerKey, key_of

# The Invocation that this code works for, or None. Context variables reach the threads and tasks that a tool starts.
# Its type is said in `kernel/core/current.py`: what an Invocation has waits here, too.
CALL: ContextVar[Any] = ContextVar("sidecall_call", default=None)
#: Of work that is not done for one caller alone.
NOBODY: CallerKey = ("", "")


def find_caller() -> CallerKey:
    """Return whose call this code works for; NOBODY outside of calls."""
    call = CALL.get()
    return NOBODY if call is None else key_of(call.request.caller)
