"""Keep code that is being loaded from ending the process without a word."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from sidecall.kernel.core.errors import SidecallError


class ExitRefused(SidecallError):
    """The code of a tool wanted to end the process while it was loaded."""


@contextmanager
def refuse_exits() -> Iterator[None]:
    """Let `os._exit` raise in the body, in this thread and process only, so that it is said which file called it.

    Nothing else can tell: it runs no clean-up. Elsewhere it ends the process as ever: in the processes that the body
    forks, in other threads, and where the function was taken before, as in Sidecall's own handlers of signals.

    Raises:
        ExitRefused: From `os._exit`, in the body.
    """
    leave, here = os._exit, (os.getpid(), threading.get_ident())

    def refuse(status: int) -> NoReturn:
        if (os.getpid(), threading.get_ident()) != here:
            leave(status)
        raise ExitRefused(f"os._exit({status}) would end the process without a word")

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = leave
