"""Exceptions of the client: one for each party that has to act."""

import json
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from sidecall.client.answers import CallApproval, ToolAnswer
from sidecall.client.answers import ClientError as ClientError

_PREFIX = "urn:sidecall:problem:"
_MOST_SHOWN = 500
# How servers answer, and what is at the end of the address, when it is that of a route.
_OF_WRONG_ADDRESSES = frozenset((404, 405, 422))
_ROUTES = frozenset(("tools", "tool_calls", "mcp", "docs", "openapi.json", "healthz", "readyz", "metrics", "v1"))


class ServerUnreachable(ClientError):
    """No answer came: no server is listening, the connection was lost, or it took too long."""


class UnknownAnswer(ClientError):
    """The answer does not come from a Sidecall server, or from one whose version this client does not know."""


class ApprovalNeeded(ClientError):
    """Calls wait for a person; `approvals` are to be decided, and `turn` is passed to `run` afterwards.

    Those with a `sign_in` wait until their person has signed in at its `url`.
    """

    def __init__(self, approvals: Sequence[CallApproval], turn: Any = None) -> None:
        names = ", ".join(approval.tool_call["name"] for approval in approvals if approval.sign_in is None)
        links = {link.url: link.provider for approval in approvals if (link := approval.sign_in) is not None}
        said = [f"A person has to decide about: {names}"] if names else []
        said += [f"A person has to sign in at {provider}: {url}" for url, provider in links.items()]
        super().__init__("; ".join(said))
        self.approvals = tuple(approvals)
        self.turn = turn


class RequestRefused(ClientError):
    """The server answered with a problem (RFC 9457) that the program has to fix.

    `slug` is the last word of its type, such as `not-a-tool-call`, and `document` the whole.
    """

    def __init__(self, document: Mapping[str, Any], status: int, retry_after: float | None = None) -> None:
        self.document = dict(document)
        self.status = status
        self.slug = str(document.get("type", "")).removeprefix(_PREFIX)
        self.detail = str(document.get("detail") or document.get("title") or "")
        self.request_id = document.get("instance")
        self.retry_after = retry_after
        super().__init__(f"{' '.join(filter(None, (str(status), self.slug)))}: {self.detail}")

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The errors by location, if the server lists them."""
        said = self.document.get("errors")
        return list(said) if isinstance(said, list) else []


class RequestUnfit(RequestRefused):
    """The request is invalid (400, 413, 415, 422 and others); a retry would be refused again."""


class NotAuthenticated(RequestRefused):
    """The credentials are missing, wrong or expired (401)."""


class NotAllowed(RequestRefused):
    """The caller may not do that (403)."""


class NotThere(RequestRefused):
    """It does not exist, has expired, or is another caller's (404, 410)."""


class Conflicting(RequestRefused):
    """It was already decided or has ended (409)."""


class ServerBusy(RequestRefused):
    """The server had no capacity (429, 503) during all retries; `retry_after` is in seconds."""


class ServerFailed(RequestRefused):
    """The server, or a tool that lets its failures through, has failed (500)."""


_BY_STATUS: Mapping[int, type[RequestRefused]] = {
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotThere,
    409: Conflicting,
    410: NotThere,
    429: ServerBusy,
    503: ServerBusy,
}


def read_refusal(response: httpx.Response, path: str) -> RequestRefused:
    """Return the exception for an error response, also one of a proxy; `path` is that of the request."""
    document = _read_problem(response.text)
    if document is None:
        document = {"title": response.reason_phrase, "detail": response.text[:_MOST_SHOWN]}
    if response.status_code in _OF_WRONG_ADDRESSES:
        document = _doubt_address(document, response, path)
    return make_refusal(document, response.status_code, _read_seconds(response.headers.get("Retry-After")))


def read_told_refusal(document: Mapping[str, Any]) -> RequestRefused:
    """Return the exception for a problem that came as an event."""
    status, retry_after = document.get("status"), document.get("retry_after")
    return make_refusal(
        _keep_words(document, json.dumps(document)),
        status if isinstance(status, int) else int(httpx.codes.SERVICE_UNAVAILABLE),
        retry_after if isinstance(retry_after, int | float) else None,
    )


def _read_problem(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return _keep_words(document, text) if isinstance(document, dict) else None


def _keep_words(document: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a problem; from a proxy's JSON, which has no known form, keep the text."""
    is_ours = str(document.get("type", "")).startswith(_PREFIX)
    has_words = isinstance(document.get("detail"), str) and document["detail"] != ""
    return dict(document) if is_ours or has_words else {**document, "detail": text[:_MOST_SHOWN]}


def make_misplaced(response: httpx.Response, path: str) -> RequestRefused:
    """Return the exception for a redirect, as from a server behind HTTPS or a proxy.

    `path` is that of the request, without the address of its server.
    """
    said = response.headers.get("Location")
    detail = "the server answers that it is elsewhere, and not where"
    if said is not None:
        detail = f"the server is at {_find_server(said, response, path.partition('?')[0])}: give that address"
    return make_refusal({"title": response.reason_phrase, "detail": detail}, response.status_code)


def _doubt_address(document: dict[str, Any], response: httpx.Response, path: str) -> dict[str, Any]:
    """Ask in the detail whether the program has given the address of a route in place of the server's."""
    address = str(response.url.copy_with(userinfo=b"", query=None, fragment=None)).removesuffix(path.partition("?")[0])
    server, _, last = address.rpartition("/")
    if last not in _ROUTES:
        return document
    return {**document, "detail": f"{document.get('detail')} The client was given {address}: should it be {server}?"}


def _find_server(said: str, response: httpx.Response, path: str) -> str:
    try:
        place = httpx.URL(said)
        place = response.url.join(place) if place.is_relative_url else place
    except httpx.InvalidURL:
        return said
    shown = str(place.copy_with(query=None, fragment=None))
    return shown.removesuffix(path) if shown.endswith(path) else str(place)


def make_refusal(document: Mapping[str, Any], status: int, retry_after: float | None = None) -> RequestRefused:
    """Return the exception for a problem."""
    kind = _BY_STATUS.get(status, ServerFailed if status >= 500 else RequestUnfit)
    return kind(document, status, retry_after)


def answer_reused(refused: ClientError, name: str, call_id: Any) -> ToolAnswer | None:
    """Return the text for a model that reused another call's id, as in a batch; None for other errors.

    Ids are idempotency keys if the tool's author says so, and models that number their calls start over.
    """
    if not isinstance(refused, RequestUnfit) or refused.slug != "key-reused":
        return None
    error = {"kind": "key_reused", "message": refused.detail, "retryable": False}
    return ToolAnswer(refused.detail, str(call_id), name, "error", response_metadata={"error": error})


def _read_seconds(text: str | None) -> float | None:
    """Read the number of seconds to wait, which may be given as a date."""
    if text is None or text.isdecimal():
        return None if text is None else float(text)
    if not text[:3].isalpha():  # Without the name of a day, much would be taken for a date that is none.
        return None
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
