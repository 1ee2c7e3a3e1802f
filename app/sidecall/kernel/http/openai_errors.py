"""Problems in OpenAI's error form, on routes with its shapes."""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel, Field

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
