"""Which scope each request takes; looked up in front of all routes, so that none can forget it."""

import re
from collections.abc import Iterable

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.scopes import CALL, require_scope
from sidecall.kernel.rest.route_table import Route

# A client of MCP lists and calls with the same credentials.
_MOUNTED = tuple((method, "/mcp", CALL) for method in ("GET", "POST", "DELETE"))
_PARAMETER = re.compile(r"\{[^}]+\}")


class Permissions:
    """The scopes of the requests that a server answers."""

    def __init__(self, routes: Iterable[Route]) -> None:
        checked = [(route.method, route.path, route.scope) for route in routes if route.is_checked]
        self._exact = {(method, path): scope for method, path, scope in (*checked, *_MOUNTED) if "{" not in path}
        # Of one of several; of calls and approvals the route itself tells those of others apart.
        self._patterns = tuple((method, _compile(path), scope) for method, path, scope in checked if "{" in path)

    def find_scope(self, method: str, path: str) -> str | None:
        """Return the scope that a request takes; None where everybody who is known may ask, and is told what is theirs.

        Raises:
            LookupError: There is no such request.
        """
        method = "GET" if method == "HEAD" else method
        if (method, path) in self._exact:
            return self._exact[method, path]
        for known, pattern, scope in self._patterns:
            if known == method and pattern.fullmatch(path):
                return scope
        raise LookupError(path)

    def permit(self, method: str, path: str, caller: Caller) -> None:
        """Let a caller send a request, or one that there is no route for.

        Raises:
            MissingScope: It lacks the scope.
        """
        try:
            scope = self.find_scope(method, path)
        except LookupError:
            return
        if scope is not None:
            require_scope(caller, scope)


def _compile(path: str) -> re.Pattern[str]:
    fixed = map(re.escape, _PARAMETER.split(path))
    return re.compile("[^/]+".join(fixed), re.DOTALL)
