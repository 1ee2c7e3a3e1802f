"""A visit to a page: who reads it, where it stands, and what it asks the API for."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request

from sidecall.features.console import api_client
from sidecall.features.console.api_client import ApiAnswer, ApiFailure
from sidecall.features.credentials.own_secrets import SecretKeeper


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a page, as `GET /whoami` says it."""

    subject: str
    tenant: str
    scopes: frozenset[str]

    def may(self, scope: str | None) -> bool:
        """Return whether the reader has a scope; everybody has none at all."""
        return scope is None or "*" in self.scopes or scope in self.scopes


@dataclass(frozen=True, slots=True)
class View:
    """What a page shows: a template and the values in it."""

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of a page.

    `names` are the parts of its path that stand for something; `root` leads from it to the place where the server is
    mounted, so that all addresses are relative. `has_sessions` says whether people log in here.
    """

    request: Request
    reader: Reader
    names: Mapping[str, str]
    root: str
    has_sessions: bool = False

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the page's address."""
        return self.request.query_params

    @property
    def settings(self) -> Any:
        """The settings of the server."""
        return self.request.app.state.settings

    @property
    def own_secrets(self) -> SecretKeeper:
        """What keeps the secrets of callers."""
        keeper: SecretKeeper = self.request.app.state.parts.secrets
        return keeper

    async def get(self, path: str, **query: Any) -> ApiAnswer:
        """Send GET to the API in the reader's name; parameters that are None are left out.

        Raises:
            ApiFailure: The API refuses it. A page that does not handle it shows it: what may not be seen as 404.
        """
        return await api_client.get(self.request, path, query)

    async def find(self, path: str, **query: Any) -> ApiAnswer | ApiFailure:
        """Do the same for what a page can do without: return the failure."""
        try:
            return await self.get(path, **query)
        except ApiFailure as failure:
            return failure

    def link(self, path: str, *parts: str, **query: Any) -> str:
        """Return the relative address of something of this server, such as `link("console/calls", call_id)`.

        Parts are escaped, slashes in them as well; parameters that are None or empty are left out.
        """
        place = "/".join((path, *(quote(part, safe="") for part in parts)))
        asked = urlencode([(name, value) for name, value in query.items() if value not in (None, "")])
        return f"{self.root}{place}{'?' if asked else ''}{asked}"


Show = Callable[[Visit], Awaitable[View]]
