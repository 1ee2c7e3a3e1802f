"""What only a route of FastAPI has is refused, with what does instead."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import fastapi
import pytest
from fastapi import BackgroundTasks, Body, Cookie, Depends, Header, Query, Request, Security, UploadFile, WebSocket

from sidecall import InjectedToolArg, tool
from sidecall.kernel.core.errors import SchemaInferenceError


def find_user() -> str:
    """Find the user of a request."""
    return "Ada"


DEPENDS = Depends(find_user)


def by_default(user: str = Depends(find_user)) -> str:
    """Depend by default."""
    return user


def untyped(user=DEPENDS) -> str:  # type: ignore[no-untyped-def]  # as some authors write it
    """Depend without a type."""
    return str(user)


def by_annotation(user: Annotated[str | None, Security(find_user)] = None) -> str:
    """Depend by the annotation."""
    return str(user)


def in_query(limit: int = Query(10, ge=1)) -> int:
    """Take it from the query."""
    return limit


def in_body(item: Annotated[dict[str, Any], Body(embed=True)]) -> int:
    """Take it from the body."""
    return len(item)


def in_header(key: Annotated[str, Header()], session: str = Cookie("")) -> str:
    """Take them from headers."""
    return key + session


def of_request(request: Request) -> str:
    """Take the request."""
    return request.url.path


def of_socket(socket: WebSocket | None = None) -> str:
    """Take the socket."""
    return str(socket)


def of_response(response: fastapi.Response) -> None:
    """Take the response."""
    response.status_code = 404


def later(tasks: BackgroundTasks) -> None:
    """Do something later."""
    tasks.add_task(print)


def of_file(files: list[UploadFile]) -> int:
    """Take files."""
    return len(files)


CONTEXT = "take a parameter of type ToolContext, which has the headers, the caller, and what the program sent beside."
HIDDEN = (
    "call the function in the tool; or hide the parameter with Annotated[..., InjectedToolArg], and let the calling "
    "program send the value in `context`."
)
FIELD = "write pydantic's Field(...), which takes the same descriptions and bounds."


@pytest.mark.parametrize(
    ("function", "named", "instead"),
    [
        (by_default, "`user`: Depends(...)", HIDDEN),
        (untyped, "`user`: Depends(...)", HIDDEN),
        (by_annotation, "`user`: Security(...)", HIDDEN),
        (in_query, "`limit`: Query(...)", FIELD),
        (in_body, "`item`: Body(...)", FIELD),
        (in_header, "`key`: Header(...)", "take a parameter of type ToolContext, and read its `headers`."),
        (of_request, "`request`: Request", CONTEXT),
        (of_socket, "`socket`: WebSocket", CONTEXT),
        (of_response, "`response`: Response", "return what the model has to read."),
        (later, "`tasks`: BackgroundTasks", "do the work in the tool, before it returns."),
        (of_file, "`files`: UploadFile", "take a text: the file's address, or its bytes in base64."),
    ],
)
def test_a_parameter_of_a_route_is_refused(function: Callable[..., Any], named: str, instead: str) -> None:
    """Nobody would fill it; and what a route keeps from its clients, a model could set."""
    with pytest.raises(SchemaInferenceError) as raised:
        _ = tool(function).compiled

    assert raised.value.message.endswith(
        f"parameter {named} is for routes of FastAPI, and nobody fills it in a tool. Instead, {instead}"
    )
    assert "test_web.py:" in raised.value.message


def test_what_the_program_supplies_may_be_anything() -> None:
    """And a Path is also a file's."""

    @tool
    def show(file: Path, request: Annotated[Any, InjectedToolArg], user: Annotated[str, InjectedToolArg] = "") -> str:
        """Show a file."""
        return f"{file} {request} {user}"

    assert list(show.compiled.args_schema.flat["properties"]) == ["file"]
