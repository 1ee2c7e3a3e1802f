"""What the system refuses is one line, which says what to do about it."""

import errno

import pytest

from sidecall.http.system_refusals import word_system_refusal


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EACCES, "Permission denied", "/srv/tools"), "Permission denied: /srv/tools"),
        (OSError(errno.EACCES, "Permission denied", b"/srv/tools"), "Permission denied: /srv/tools"),
        (OSError("odd"), "odd"),
        (
            OSError(errno.EMFILE, "Too many open files"),
            "Too many open files; raise the limit (ulimit -n, LimitNOFILE, --ulimit nofile)",
        ),
        (
            BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
            "Resource temporarily unavailable; raise the limit of processes (ulimit -u, TasksMax, --pids-limit)",
        ),
        (
            RuntimeError("can't start new thread"),
            "no more threads can be started; raise the limit (ulimit -u, TasksMax, --pids-limit)",
        ),
        (RuntimeError("a mistake of ours"), None),
    ],
)
def test_a_refusal_is_worded(error: BaseException, said: str | None) -> None:
    """Other errors are no refusals, and keep their traceback."""
    outer = RuntimeError("what cannot be closed, since it was not opened")
    outer.__context__ = error

    assert word_system_refusal(error) == said
    assert word_system_refusal(outer) == said
