"""What goes wrong between a program and its server: one exception for whoever has to act."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from sidecall.client.answers import CallApproval, ToolAnswer

_PREFIX = "urn:sidecall:problem:"


class ClientError(Exception):
    """What this package raises."""


class ServerUnreachable(ClientError):
    """No answer came: nobody listens there, the connection was lost, or it took too long."""


class UnknownAnswer(ClientError):
    """Whoever answers there is no Sidecall server, or one that says what this client does not know."""


class ApprovalNeeded(ClientError):
    """Calls wait for a person; `approvals` are what has to be decided, and `turn` is what `run` goes on with.

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
    """The server answered with a problem (RFC 9457), which says what the program has to mend.

    `slug` is the last word of its type, such as `not-a-tool-call`, and `document` the whole.
    """

    def __init__(self, document: Mapping[str, Any], status: int, retry_after: float | None = None) -> None:
        self.document = dict(document)
        self.status = status
        self.slug = str(document.get("type", "")).removeprefix(_PREFIX)
        self.detail = str(document.get("detail") or document.get("title") or "")
        self.request_id = document.get("instance")
        self.retry_after = retry_after
        super().__init__(f"{status} {self.slug}: {self.detail}")

    @property
    def errors(self) -> list[dict[str, Any]]:
        """What is wrong, place by place, where the server says so."""
        return list(self.document.get("errors") or ())


class RequestUnfit(RequestRefused):
    """The request is not what the server takes (400, 413, 415, 422 and others); sent again it is refused again."""


class NotAuthenticated(RequestRefused):
    """The credentials are missing, wrong or expired (401)."""


class NotAllowed(RequestRefused):
    """The caller may not do that (403)."""


class NotThere(RequestRefused):
    """It does not exist, has expired, or is another caller's (404, 410)."""


class Conflicting(RequestRefused):
    """It was decided or has ended already (409)."""


class ServerBusy(RequestRefused):
    """There is no room now (429, 503), and none came while the client tried again; `retry_after` is in seconds."""


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


def read_refusal(response: httpx.Response) -> RequestRefused:
    """Return the exception for an answer that is no success, whoever on the way has written it."""
    try:
        document = response.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        document = None
    if not isinstance(document, dict):
        document = {"title": response.reason_phrase, "detail": response.text[:500]}
    return make_refusal(document, response.status_code, _read_seconds(response.headers.get("Retry-After")))


def make_refusal(document: Mapping[str, Any], status: int, retry_after: float | None = None) -> RequestRefused:
    """Return the exception for a problem."""
    kind = _BY_STATUS.get(status, ServerFailed if status >= 500 else RequestUnfit)
    return kind(document, status, retry_after)


def answer_reused(refused: ClientError, name: str, call_id: Any) -> ToolAnswer | None:
    """Return what a model reads that has used the id of a call for another one, as in a batch; None of other errors.

    Such ids are keys where the tool's author says so, and models that count their calls begin at the same one again.
    """
    if not isinstance(refused, RequestUnfit) or refused.slug != "key-reused":
        return None
    error = {"kind": "key_reused", "message": refused.detail, "retryable": False}
    return ToolAnswer(refused.detail, str(call_id), name, "error", response_metadata={"error": error})


def _read_seconds(text: str | None) -> float | None:
    # A date, which HTTP allows and Sidecall never sends, counts as nothing said.
    return float(text) if text is not None and text.isdecimal() else None
