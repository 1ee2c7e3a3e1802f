"""Answer errors of the client program with problem+json (RFC 9457)."""

import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from sidecall.http.answer_headers import quota_headers
from sidecall.http.authentication import challenge
from sidecall.http.changed_installation import INSTALLATION
from sidecall.kernel.core.errors import (
    RequestError,
    cut_name,
)
from sidecall.kernel.core.overload import (
    StoreUnavailable,
)

STATUS = 503

SLUG = "shutting-down"

TITLE = "The server is ending."

DETAIL = (
    "The request was not finished, though its tool may have had an effect. Send it again: another instance, or the "
    "next one, will answer."
)


def shutdown_problem(request: Request, **members: Any) -> Response:
    """Build the answer that asks the client program to retry."""
    return problem(request, STATUS, SLUG, TITLE, DETAIL, retryable=True, **members)


_ROUTES = re.compile("/(?:files|vector_stores)(?:/.*)?", re.DOTALL)

_ErrorType = Literal["invalid_request_error", "rate_limit_error", "server_error"]


class OpenAIError(BaseModel, defer_build=True):
    """An error in OpenAI's form."""

    message: str = Field(description="The `detail`.")
    type: _ErrorType
    code: str = Field(description="The last part of the problem's type, with `_`: `unknown_file`.")
    param: str | None = Field(description="The parameter that is wrong, where it is one.")


def show_error(path: str, status: int, slug: str, detail: str, members: Mapping[str, Any]) -> dict[str, Any]:
    """Return extra members of a problem for routes with OpenAI's shapes; none for other routes."""
    if _ROUTES.fullmatch(path) is None:
        return {}
    errors = members.get("errors") or [{}]
    error = {"type": _name_type(status), "code": slug.replace("-", "_"), "param": _name_place(errors[0].get("loc", ()))}
    return {"error": {"message": detail, **error}}


def _name_type(status: int) -> _ErrorType:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server_error"
    return "rate_limit_error" if status == HTTPStatus.TOO_MANY_REQUESTS else "invalid_request_error"


def _name_place(place: Sequence[str | int]) -> str | None:
    """Name a place in a request by its first part (body, query, path)."""
    return ".".join(map(str, place[1:])) or None


logger = logging.getLogger("sidecall")

# Where it stands in the scope of an answer that is a problem: what its `type` ends with, and its `detail`.
PROBLEM = "sidecall.problem"
# Stands in the scope of an answer that nobody hears.
UNHEARD = "sidecall.unheard"

MEDIA_TYPE = "application/problem+json"

# Characters of a path that are repeated.
_MOST_OF_PATH = 256

_READING = frozenset(("GET", "HEAD"))

_NOT_READ = "What this server remembers cannot be read just now."


class Problem(BaseModel, defer_build=True):
    """A problem with a request, and its fix, for the client program."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="A stable name: `urn:sidecall:problem:…`.")
    title: str = Field(description="What this type of problem means.")
    status: int = Field(description="The status code again.")
    detail: str = Field(description="What is wrong with this request.")
    instance: str = Field(description="The request's id, also in the header `X-Request-Id`.")
    retryable: bool | None = Field(default=None, description="Whether the same request may be sent again.")
    retry_after: int | None = Field(default=None, description="Seconds after which to try again, as in `Retry-After`.")
    errors: list[dict[str, Any]] | None = Field(default=None, description="The places that are wrong.")
    example: Any = Field(default=None, description="A request that would be right.")
    error: OpenAIError | None = Field(
        default=None, description="The same for OpenAI's clients, on routes in its shapes."
    )


def problem(request: Request, status: int, slug: str, title: str, detail: str, **members: Any) -> Response:
    """Make an answer of problem+json."""
    request.scope[PROBLEM] = slug, detail
    body = {
        "type": f"urn:sidecall:problem:{slug}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": request.scope.get("state", {}).get("request_id", ""),
        **members,
        **show_error(request.scope.get("path", ""), status, slug, detail, members),
    }
    return Response(to_json(body), status, {"X-Content-Type-Options": "nosniff"}, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error of this application with problem+json."""
    app.add_exception_handler(RequestError, _answer_request_error)
    app.add_exception_handler(RequestValidationError, _answer_parameter)
    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(ClientDisconnect, _answer_disconnected)
    app.add_exception_handler(OSError, _answer_passing)
    app.add_exception_handler(ImportError, _answer_passing)
    app.add_exception_handler(Exception, _answer_crash)


async def answer(request: Request, error: Exception) -> Response:
    """Build the answer to an error outside of the framework, as its handlers would."""
    known = find_known(error)
    return await (_answer_crash(request, error) if known is None else _answer_request_error(request, known))


def find_known(error: Exception) -> RequestError | None:
    """Return the error that is reported to clients; None for a crash."""
    return error if isinstance(error, RequestError) else INSTALLATION.explain(error)


async def refuse(scope: Scope, receive: Receive, send: Send, error: Exception) -> None:
    """Answer a request with an error, outside of the framework."""
    response = await answer(Request(scope), error)
    response.headers["X-Request-Id"] = scope["state"]["request_id"]
    await response(scope, receive, send)


def nearest_known(kind: type[RequestError]) -> type[RequestError]:
    """Return the class that says which problem an error is: its own, or its nearest parent."""
    return next(parent for parent in kind.__mro__ if "problem" in vars(parent))


def find_status(error: RequestError) -> tuple[int, str]:
    """Return an error's status, and the last part of its problem's type."""
    return error.problem


async def _answer_request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    kind, (status, slug) = nearest_known(type(error)), error.problem
    title = (kind.__doc__ or "").strip()
    detail = error.message
    if kind is StoreUnavailable and detail == title and request.method in _READING:
        detail = _NOT_READ
    response = problem(request, status, slug, title, detail, **error.members)
    response.headers.update(error.headers)
    if error.is_replayed:
        response.headers["Idempotency-Replayed"] = "true"
    response.headers.update(quota_headers(error.quotas) | challenge(request.scope, error))
    return response


async def _answer_parameter(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [{"loc": list(item["loc"]), "type": item["type"], "msg": item["msg"]} for item in error.errors()]
    detail = "; ".join(f"{item['loc'][-1]}: {item['msg']}" for item in errors)
    return problem(request, 422, "invalid-parameter", "A parameter of the request is wrong.", detail, errors=errors)


async def answer_http(request: Request, error: Exception) -> Response:
    """Build the answer to an error that the framework raised."""
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    slug = phrase.lower().replace(" ", "-")
    path = cut_name(request.url.path, _MOST_OF_PATH)
    detail = f"{request.method} {path}: {error.detail}. See /docs for what this server answers."
    response = problem(request, error.status_code, slug, phrase, detail)
    response.headers.update(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(_methods(request))
    return response


def _methods(request: Request) -> list[str]:
    """List the methods allowed at the path; the framework names only those of the first route."""
    routes = [route for route in request.app.routes if _leads_to(route, request)]
    # A path that is written out stands before one with a name in it.
    routes = [route for route in routes if route.path == request.scope["path"]] or routes
    methods = {method for route in routes for method in route.methods or ()}
    return sorted(methods | {"HEAD"} if "GET" in methods else methods)


def _leads_to(route: BaseRoute, request: Request) -> bool:
    return hasattr(route, "methods") and route.matches(request.scope)[0] is not Match.NONE


async def _answer_passing(request: Request, error: Exception) -> Response:
    """Answer a passing failure of the system; other errors of these kinds are crashes."""
    known = find_known(error)
    if known is None:
        raise error
    return await _answer_request_error(request, known)


async def _answer_disconnected(request: Request, _error: Exception) -> Response:
    """Return an empty answer: the client disconnected in the middle of its body, which is no error of ours."""
    request.scope[UNHEARD] = True
    return Response(status_code=400)


async def _answer_crash(request: Request, error: Exception) -> Response:
    request_id = request.scope.get("state", {}).get("request_id", "")
    path = cut_name(request.url.path, _MOST_OF_PATH)
    logger.error("request %s failed: %s %s", request_id, request.method, path, exc_info=error)
    detail = f"This is a defect of the server; its log has the details under the request id {request_id}."
    response = problem(request, 500, "internal-error", "The server failed.", detail)
    response.headers["X-Request-Id"] = request_id
    # The error is raised again, for the server to see, and servers close the connection then.
    response.headers["Connection"] = "close"
    return response
