"""Send requests to a running server."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

import httpx
import typer

from sidecall.kernel.core.errors import SidecallError

DEFAULT_URL = "http://127.0.0.1:8000"
# The server bounds its tools; this only keeps the terminal from hanging on one that is gone.
_PATIENCE = httpx.Timeout(10.0, read=600.0)

Url = Annotated[str, typer.Option(envvar="SIDECALL_URL", help="The running server.")]
# Not as an option, which other people on the machine could read.
_KEY = "SIDECALL_API_KEY"
_MISSING = f"put a key or a token into {_KEY}. `sidecall keys new NAME` makes a key."
_UNFIT = f"what {_KEY} has opens nothing there. `sidecall keys list` says which keys are valid."
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


class NoServer(SidecallError):
    """No server answers there."""


class RefusedByServer(SidecallError):
    """The server refuses what was asked of it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def may_pass(self) -> bool:
        """Whether a retry may succeed."""
        return self.status == httpx.codes.TOO_MANY_REQUESTS or self.status >= httpx.codes.INTERNAL_SERVER_ERROR


@contextmanager
def reach(url: str) -> Iterator[httpx.Client]:
    """Connect to a server, with clear errors if there is none.

    Raises:
        NoServer: No server answers there, or another service does, or the connection breaks.
    """
    try:
        # A Unix socket, such as unix:/run/sidecall.sock.
        path = url.removeprefix("unix://").removeprefix("unix:") if url.startswith("unix:") else None
        transport = None if path is None else httpx.HTTPTransport(uds=path)
        base = url if path is None else "http://localhost"
        with httpx.Client(base_url=base, transport=transport, timeout=_PATIENCE, headers=credentials()) as client:
            yield client
    except (httpx.TransportError, httpx.TooManyRedirects, httpx.InvalidURL) as error:
        why = str(error).rstrip(".") or type(error).__name__
        if isinstance(error, httpx.UnsupportedProtocol):
            why = "an address begins with http:// or https://"
        raise NoServer(
            f"no server answers at {url}: {why}. Start one with `sidecall serve`, or say where it is with --url or "
            "SIDECALL_URL."
        ) from None
    except (httpx.DecodingError, ValueError, LookupError, TypeError):
        raise NoServer(
            f"{url} does not answer as a Sidecall server. Say where yours is with --url or SIDECALL_URL."
        ) from None


def credentials() -> dict[str, str]:
    """Return the authentication headers, from the key or token in `SIDECALL_API_KEY`."""
    key = os.environ.get(_KEY, "").strip()
    return {"Authorization": f"Bearer {key}"} if key else {}


def ask(client: httpx.Client, method: str, path: str, **request: Any) -> Any:
    """Send a request and return the JSON of its answer.

    Raises:
        RefusedByServer: The answer is a problem.
    """
    return require(client.request(method, path, **request)).json()


def require(response: httpx.Response) -> httpx.Response:
    """Return the answer unless it is a problem.

    Raises:
        RefusedByServer: It is one.
    """
    if response.is_success:
        return response
    raise RefusedByServer(format_problem(response), response.status_code)


def format_problem(response: httpx.Response) -> str:
    """Return the server's error message, or how to set the credential that it asks for."""
    if response.status_code == httpx.codes.UNAUTHORIZED:
        return f"The server does not know who asks: {_UNFIT if credentials() else _MISSING}"
    return str(response.json()["detail"])


def list_pages(client: httpx.Client, path: str, most: int, query: dict[str, Any]) -> list[dict[str, Any]]:
    """List up to `most` entries of a paged route."""
    found: list[dict[str, Any]] = []
    response = require(client.get(path, params={**query, "limit": min(most, _PAGE)}))
    while True:
        found += response.json()
        following = response.links.get("next", {}).get("url")
        if following is None or len(found) >= most:
            return found[:most]
        response = require(client.get(following))


_PAGE = 1000


def require_id(text: str) -> str:
    """Validate an id, since other texts could be other paths.

    Raises:
        BadParameter: It is none.
    """
    try:
        UUID(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no id; `sidecall calls` and `sidecall approvals` list them") from None
    return text


def place_of(noun: str, item_id: str) -> str:
    """Return the path of one item."""
    return f"/{noun}/{quote(item_id, safe='')}"
