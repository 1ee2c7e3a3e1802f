"""A route that the framework builds when it is first needed, since most servers are never asked for most of them."""

from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import compile_path, get_name


class LateRoute(APIRoute):
    """Knows what it is found by, and reads its signature and its models at its first request, or for the document."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path, self.endpoint = path, endpoint
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.name = options.get("name") or get_name(endpoint)
        self.methods = {method.upper() for method in options.get("methods") or ("GET",)}
        self._options = options

    def __getattr__(self, name: str) -> Any:
        """Build it, which gives it all that it lacks by now."""
        options = self.__dict__.pop("_options", None)
        if options is None:
            raise AttributeError(name)
        try:
            super().__init__(self.path, self.endpoint, **options)
        except OSError:  # Files have run out, and something has to be loaded: the next request may have more luck.
            self._options = options
            raise
        return getattr(self, name)
