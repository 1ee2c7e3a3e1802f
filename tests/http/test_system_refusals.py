"""What the system refuses is one line, which says what to do about it."""

import errno

import httpx
import pytest
from fastapi import FastAPI

from sidecall.http import problems
from sidecall.http.application import find_shortage, format_system_refusal


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

    assert format_system_refusal(error) == said
    assert format_system_refusal(outer) == said


@pytest.mark.parametrize(
    ("error", "is_shortage"),
    [
        (OSError(errno.EMFILE, "Too many open files"), True),
        (OSError(errno.ENFILE, "Too many open files in system"), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (ImportError("libz.so.1: cannot open shared object file: Too many open files"), True),
        (ImportError("No module named 'nothing'"), False),
        (PermissionError(errno.EACCES, "Permission denied"), False),
        (ValueError("Too many open files"), False),
    ],
)
def test_what_the_system_lacks_for_a_moment_is_no_defect(error: Exception, is_shortage: bool) -> None:
    """Clients may come again; other refusals stay as they are."""
    found = find_shortage(error)

    assert (found is not None) is is_shortage
    assert found is None or found.members == {"retryable": True, "retry_after": 5}


@pytest.mark.parametrize(
    ("error", "status", "retry_after", "connection"),
    [
        (OSError(errno.EMFILE, "Too many open files"), 503, "5", None),
        (PermissionError(errno.EACCES, "Permission denied"), 500, None, "close"),
        (ImportError("No module named 'nothing'"), 500, None, "close"),
    ],
)
async def test_a_route_answers_a_lack_with_when_to_come_again(
    error: Exception, status: int, retry_after: str | None, connection: str | None
) -> None:
    """Everything else is a defect, and ends the connection."""
    app = FastAPI()
    problems.install(app)

    @app.get("/")
    async def fail() -> None:
        raise error

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        answer = await client.get("/")

    told = tuple(answer.headers.get(name) for name in ("Retry-After", "Connection"))
    assert (answer.status_code, *told) == (status, retry_after, connection)
