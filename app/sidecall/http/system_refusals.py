"""What the operating system refuses a program, in one line instead of a traceback."""

import errno
import os


def word_system_refusal(error: BaseException) -> str | None:
    """Return what the system has refused, where that is behind an error; None where the error is of another kind."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            return _word(cause)
        # Python's own words, as there is no number in it.
        if isinstance(cause, RuntimeError) and "can't start new thread" in str(cause):
            return "no more threads can be started; raise the limit (ulimit -u, TasksMax, --pids-limit)"
        cause = cause.__cause__ or cause.__context__
    return None


def _word(error: OSError) -> str:
    said = error.strerror or str(error) or type(error).__name__
    place = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, str | bytes) else ""
    return f"{said}{place}{_REMEDIES.get(error.errno or 0, '')}"


_REMEDIES = {
    errno.EMFILE: "; raise the limit (ulimit -n, LimitNOFILE, --ulimit nofile)",
    errno.EAGAIN: "; raise the limit of processes (ulimit -u, TasksMax, --pids-limit)",
    errno.ENOMEM: "; give it more memory",
}
