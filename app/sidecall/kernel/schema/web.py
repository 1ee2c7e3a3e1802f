"""Refuse parameters that only FastAPI fills in, recognized by name, without importing it."""

import typing
from collections.abc import Iterable, Mapping
from typing import Any

from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.tool import Parameter
from sidecall.kernel.schema.signature import is_builtin

_FIELD = "write pydantic's Field(...), which takes the same descriptions and bounds"
_CONTEXT = "take a parameter of type ToolContext, which has the headers, the caller, and what the program sent beside"
_FILE = "take a text: the file's address, or its bytes in base64"
_AFTER = "do the work in the tool, before it returns"
# Under the names of markers and types of FastAPI and Starlette.
_INSTEAD: Mapping[str, str] = {
    "Depends": "call the function in the tool; or hide the parameter with Annotated[..., InjectedToolArg], and let the "
    "calling program send the value in `context`",
    "Query": _FIELD,
    "Path": _FIELD,
    "Body": _FIELD,
    "Form": _FIELD,
    "File": _FILE,
    "UploadFile": _FILE,
    "Header": "take a parameter of type ToolContext, and read its `headers`",
    "Cookie": "take a parameter of type ToolContext, and read its `headers`",
    "HTTPConnection": _CONTEXT,
    "Response": "return what the model has to read",
    "BackgroundTasks": _AFTER,
    "SecurityScopes": _CONTEXT,
}
_PACKAGES = ("fastapi", "starlette")


def refuse_web_parameters(where: str, parameters: Iterable[Parameter]) -> None:
    """Refuse parameters that only a route can have.

    Raises:
        SchemaInferenceError: There is one; the message says what does instead.
    """
    for parameter in parameters:
        if is_builtin(parameter.annotation) and is_builtin(type(parameter.default)):
            continue
        for part in (parameter.default, *_list_parts(parameter.annotation)):
            name = _find_name(part)
            if name is not None:
                raise SchemaInferenceError(
                    f"{where}: parameter `{parameter.name}`: {_say(part)} is for routes of FastAPI, and nobody fills "
                    f"it in a tool. Instead, {_INSTEAD[name]}."
                )


def _list_parts(annotation: Any) -> Iterable[Any]:
    inner = (*getattr(annotation, "__metadata__", ()), *typing.get_args(annotation))
    return (annotation, *(part for it in inner for part in _list_parts(it)))


def _find_name(part: Any) -> str | None:
    kind = part if isinstance(part, type) else type(part)
    known = (base.__name__ for base in kind.__mro__ if base.__module__.partition(".")[0] in _PACKAGES)
    return next((name for name in known if name in _INSTEAD), None)


def _say(part: Any) -> str:
    return part.__name__ if isinstance(part, type) else f"{type(part).__name__}(...)"
