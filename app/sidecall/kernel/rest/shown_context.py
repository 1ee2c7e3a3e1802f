"""Read the context of a question about tools from the query, since a GET has no body."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Header
from fastapi.exceptions import RequestValidationError
from pydantic_core import from_json

from sidecall.kernel.pipeline.visible import NO_CONTEXT

NAME = "X-Sidecall-Context"
# Characters; what is longer is no question about what to show.
MOST = 8192

_Text = Annotated[
    str | None,
    Header(
        alias=NAME,
        description="The context of the calls to come, a JSON object of at most 8192 characters: tools may be enabled"
        " by it.",
        # No schema of OpenAPI says of a header's text that it is a JSON object; docs/http.md does.
        include_in_schema=False,
    ),
]


async def _read(text: _Text = None) -> Mapping[str, Any]:
    if text is None:
        return NO_CONTEXT
    if len(text) > MOST:
        raise _refuse("too_long", f"A context in a header has at most {MOST} characters.")
    try:
        # Servers read headers as Latin-1; JSON is UTF-8.
        context = from_json(text.encode("latin-1"), allow_inf_nan=False)
    except ValueError:
        raise _refuse("json_invalid", "The context is no JSON.") from None
    if not isinstance(context, dict):
        raise _refuse("dict_type", "The context has to be a JSON object.")
    return context


def _refuse(kind: str, text: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("header", NAME), "type": kind, "msg": text}])


# The context by which tools are listed; empty where none was sent.
ShownContextDep = Annotated[Mapping[str, Any], Depends(_read)]
