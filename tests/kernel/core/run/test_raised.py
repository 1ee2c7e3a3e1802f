"""What an HTTPException says is read; it is meant for the caller."""

from typing import Any

import fastapi
import pytest
import starlette.exceptions

from sidecall import tool
from sidecall.kernel.core.overload import StoreUnavailable, read_http_exception
from tests.kit.calls import run


class Gone(fastapi.HTTPException):
    """Is an author's own."""

    def __init__(self) -> None:
        super().__init__(410, "It is gone.")


class HTTPException(Exception):
    """Is nobody's."""


def _empty() -> Exception:
    error = fastapi.HTTPException(404)
    del error.status_code
    return error


@pytest.mark.parametrize(
    ("error", "content", "told"),
    [
        (fastapi.HTTPException(404, "No such user."), "No such user.", (404, False, None)),
        (starlette.exceptions.HTTPException(400), "Bad Request", (400, False, None)),
        (fastapi.HTTPException(422, [{"loc": ["a"]}]), [{"loc": ["a"]}], (422, False, None)),
        (fastapi.HTTPException(503, "Later.", {"Retry-After": "3"}), "Later.", (503, True, 3000)),
        (fastapi.HTTPException(429, "Later.", {"retry-after": "Sun, 22 Nov 2026"}), "Later.", (429, True, None)),
        (fastapi.HTTPException(418, "", {}), "HTTP 418", (418, False, None)),
        (Gone(), "It is gone.", (410, False, None)),
    ],
)
def test_an_http_exception_is_read(error: Exception, content: Any, told: Any) -> None:
    """Its detail is for the model, its status for the program."""
    read = read_http_exception(error)

    assert read is not None
    assert read.content == content
    assert (read.details["http_status"], read.retryable, read.retry_after_ms) == told


@pytest.mark.parametrize("error", [HTTPException("own"), ValueError("own"), SystemExit(1), _empty()])
def test_any_other_exception_is_none(error: BaseException) -> None:
    """What it says is for the log."""
    assert read_http_exception(error) is None


@pytest.mark.parametrize("executor", ["inline", "thread"])
async def test_the_model_reads_that_the_store_is_away(executor: Any) -> None:
    """Not that the tool has crashed."""

    @tool(executor=executor)
    def remember() -> str:
        """Remember."""
        raise StoreUnavailable

    message = await run(remember, {})

    assert (message.status, message.content) == ("error", "What tools remember cannot be reached just now.")
    error = message.response_metadata["error"]
    assert (error["kind"], error["retryable"], error["retry_after_ms"]) == ("tool_error", True, 5000)


@pytest.mark.parametrize("executor", ["inline", "thread"])
async def test_the_model_reads_the_detail(executor: Any) -> None:
    """As of a ToolException, in the words of the author's handler where there is one."""

    @tool(executor=executor, handle_tool_error=lambda error: f"Sorry: {error}")
    def find(user: int) -> str:
        """Find a user."""
        raise fastapi.HTTPException(404, f"No user {user}.")

    message = await run(find, {"user": 7})

    assert (message.status, message.content) == ("error", "Sorry: No user 7.")
    error = message.response_metadata["error"]
    assert (error["kind"], error["message"], error["http_status"]) == ("tool_error", "No user 7.", 404)
