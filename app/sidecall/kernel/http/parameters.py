"""Refuse unknown query parameters: a misspelled one must not be ignored silently.

Numbers are accepted in their common forms only. Python also accepts others, such as `5_0` for 50.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin
from urllib.parse import unquote_to_bytes

from fastapi import Request
from fastapi.dependencies.models import Dependant
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from sidecall.kernel.core.errors import InvalidParameter, UnknownParameter, cut_name
from sidecall.kernel.suggest.fuzzy_match import find_nearest

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def _read_as(form: re.Pattern[str], wanted: str) -> BeforeValidator:
    def look(value: Any) -> Any:
        if isinstance(value, str) and form.fullmatch(value) is None:
            raise PydanticCustomError("number_form", "Write it as a {wanted}", {"wanted": wanted})
        return value

    return BeforeValidator(look)


# For the annotations of parameters, behind all else, which the document would not show otherwise.
WHOLE_NUMBER = _read_as(_WHOLE, "whole number in digits, such as 50")
DECIMAL_NUMBER = _read_as(_DECIMAL, "number in digits, such as 2.5")


def must_be(form: str, wanted: str) -> BeforeValidator:
    """Return an annotation that refuses values not matching `form`, with `wanted` as the explanation.

    The pattern is part of the annotation, so that it appears in the OpenAPI document.
    """
    compiled = re.compile(form)

    def look(value: Any) -> Any:
        if isinstance(value, str) and compiled.search(value) is None:
            raise PydanticCustomError("text_form", "{wanted}", {"wanted": wanted})
        return value

    return BeforeValidator(look)


def must_be_of_link(form: str) -> BeforeValidator:
    """Do the same as `must_be` for a cursor that must come from a page."""
    return must_be(form, "Take it from the `Link` of the page before")


# The cursors of most lists.
ENTRY = r"^[0-9]{1,18}$"
OF_LINK = must_be_of_link(ENTRY)


def is_readable(request: Request, parameter: str) -> bool:
    """Return whether a path parameter is valid UTF-8 as sent."""
    if "\ufffd" not in parameter:
        return True
    try:
        unquote_to_bytes(request.scope["raw_path"]).decode()
    except UnicodeDecodeError:
        return False
    return True


async def refuse_unknown_parameters(request: Request) -> None:
    """Check the names in the query; a dependency of routes.

    Raises:
        UnknownParameter: The route has no parameter of that name.
        InvalidParameter: One came twice that can have one value.
    """
    if not request.query_params:
        return
    known = _list_known(request.scope["route"])
    _refuse_repeated(request, known)
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known][:_MOST]
    errors = [
        {"loc": ["query", cut_name(it)], "type": "unknown_parameter", "msg": _explain(it, known)} for it in unknown
    ]
    if errors:
        raise UnknownParameter(" ".join(str(error["msg"]) for error in errors), errors=errors)


def _refuse_repeated(request: Request, known: Mapping[str, bool]) -> None:
    """Refuse a repeated parameter with a single value: `?dry_run=true&dry_run=false` would run the tool."""
    names = Counter(name for name, _ in request.query_params.multi_items())
    for name, count in names.items():
        if count > 1 and not known.get(name, True):
            raise InvalidParameter(f"The parameter `{name}` came {count} times; send it once.")


# Names that are told of, and characters of each.
_MOST = 10
_LENGTH = 64


def _list_known(route: Any) -> dict[str, bool]:
    """List a route's parameters, and whether each may be repeated."""
    return dict(_walk(route.dependant))


def _walk(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    for parameter in dependant.query_params:
        annotation = parameter.field_info.annotation
        yield parameter.alias, any(get_origin(it) is list for it in (annotation, *get_args(annotation)))
    for inner in dependant.dependencies:
        yield from _walk(inner)


def _explain(name: str, known: Mapping[str, bool]) -> str:
    shown = cut_name(name)
    nearest = find_nearest(name.lower().replace("-", "_")[:_LENGTH], known)
    if nearest:
        return f"There is no parameter `{shown}`; did you mean `{nearest[0]}`?"
    there = f"there are {', '.join(f'`{it}`' for it in known)}" if known else "there are none here"
    return f"There is no parameter `{shown}`; {there}."
