"""Routes that are built when they are first needed: most servers never use most of them."""

from collections.abc import Callable, Coroutine
from functools import partial
from importlib import import_module
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.routing import compile_path, get_name


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
