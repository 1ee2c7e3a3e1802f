"""Keep code that is being loaded from ending the process silently."""

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
    """Make `os._exit` raise in the body, in this thread and process, to report which file called it.

    It cannot be caught otherwise, since it runs no clean-up. It works as usual in forked processes, in other threads,
    and for references taken earlier, as in Sidecall's own signal handlers.

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
