"""Answer what can be the id of no call as that of a call which there is not."""

import re

from fastapi import FastAPI, Request, Response

from sidecall.features.calls.errors import UnknownCall
from sidecall.kernel.http import problems

# Valid ids have routes of their own.
_PATH = re.compile(r"/tool_calls/[^/]+(?:/(?:events|cancel|replay))?", re.DOTALL)


def install(app: FastAPI) -> None:
    """Answer requests so that no route was found for."""
    app.add_exception_handler(404, _answer)


async def _answer(request: Request, error: Exception) -> Response:
    is_of_call = _PATH.fullmatch(request.scope["path"]) is not None
    return await (problems.answer(request, UnknownCall()) if is_of_call else problems.answer_http(request, error))
