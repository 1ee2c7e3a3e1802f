"""Read what routes get of a request: query parameters, caller, deadline and context; and lead to the next page.

Unknown parameters are refused: a misspelled one must not be ignored.

Numbers are accepted in their common forms only. Python also accepts others, such as `5_0` for 50.
"""

import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin
from urllib.parse import unquote_to_bytes, urlencode

from fastapi import Depends, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from msgspec.structs import replace
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError
from starlette.routing import compile_path, get_name

from sidecall.http.authentication import caller_of
from sidecall.http.context import RequestContext, make_context
from sidecall.http.preferences import read_pins
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import InvalidParameter, UnknownParameter, cut_name
from sidecall.kernel.core.sender import Deadline, allow_seconds
from sidecall.kernel.ports.workspaces import require_conversation
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


# How the OpenAPI document describes the header of a page.
NEXT_PAGE = {"Link": {"description": 'The next page, with `rel="next"`.', "schema": {"type": "string"}}}


def write_link(path: str, asked: Iterable[tuple[str, Any]]) -> str:
    """Return the header `Link` that leads to a page; parameters that are None are left out."""
    query = urlencode([(name, value) for name, value in asked if value is not None])
    return f'<{path}?{query}>; rel="next"'


def keep_query(request: Request, cursor: str) -> list[tuple[str, str]]:
    """Return the parameters of a request as they came, and the cursor of the next page."""
    return [*((name, it) for name, it in request.query_params.multi_items() if name != "cursor"), ("cursor", cursor)]


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


class _Request(Request):
    """A request whose cookies are parsed safely, since the framework reads them for each of its routes."""

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies; none if one is escaped, since some Pythons take seconds to parse these."""
        return {} if any("\\" in it for it in self.headers.getlist("cookie")) else super().cookies


class _Route(APIRoute):
    """A route whose handler gets a request with its headers parsed."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers requests of this route."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return await handle(_Request(request.scope, request.receive))

        return answer


class _Unbuilt(APIRoute):
    """A placeholder with the path and methods of a route, replaced by the real route when more is needed.

    The route is built at its first request, or for the OpenAPI document. If loading fails because files have run out,
    it stays unbuilt and the next request tries again.
    """

    def __init__(self, path: str, name: str, methods: set[str], build: Callable[[], APIRoute]) -> None:
        self.path, self.name, self.methods = path, name, methods
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self._build: Callable[[], APIRoute] | None = build

    def __getattr__(self, name: str) -> Any:
        build = self.__dict__.get("_build")
        if build is None:
            if name in self.__dict__:  # A thread, which makes the document, has just built it.
                return self.__dict__[name]
            raise AttributeError(name)
        # Concurrent builders make equal routes, so the last one may win.
        self.__dict__.update(vars(build()))
        self._build = None
        return getattr(self, name)


class LateRoute(_Unbuilt):
    """Builds its signature and models when it is first needed."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.endpoint = endpoint
        methods = {method.upper() for method in options.get("methods") or ("GET",)}
        name = options.get("name") or get_name(endpoint)
        super().__init__(path, name, methods, partial(_Route, path, endpoint, **options))


class NamedRoute(_Unbuilt):
    """Loads the module that defines the route when it is first needed."""

    def __init__(self, module: str, method: str, path: str, name: str) -> None:
        super().__init__(path, name, {method}, partial(_find_route, module, name))


def _find_route(module: str, name: str) -> APIRoute:
    (route,) = (route for route in import_module(module).router.routes if route.name == name)
    assert isinstance(route, APIRoute)
    _ = route.dependant  # It may be late, too.
    return route


_Timeout = Annotated[
    float | None,
    Query(
        alias="timeout",
        gt=0,
        allow_inf_nan=False,
        description="Seconds from now in which you want the answer. They shorten what the tool has, and never lengthen"
        " it; those spent waiting for a place count.",
    ),
    DECIMAL_NUMBER,
]


async def _deadline(seconds: _Timeout = None) -> Deadline | None:
    return None if seconds is None else allow_seconds(seconds)


# None where the client does not say how long it waits.
DeadlineDep = Annotated[Deadline | None, Depends(_deadline)]


async def find_parts(request: Request) -> Any:
    """Return the parts of the server that a request has come to."""
    return request.app.state.parts


async def _caller(request: Request) -> Caller:
    return caller_of(request.scope)


CallerDep = Annotated[Caller, Depends(_caller)]


async def _context(request: Request, deadline: DeadlineDep) -> RequestContext:
    return replace(make_context(request.scope, request.receive, deadline), pinned=read_pins(request.headers))


ContextDep = Annotated[RequestContext, Depends(_context)]


async def _call_context(context: ContextDep) -> RequestContext:
    require_conversation(context.headers, {})
    return context


# The same, of a request with calls.
CallContextDep = Annotated[RequestContext, Depends(_call_context)]
