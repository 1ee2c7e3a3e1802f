"""Make the request of a call, send it to public hosts only, and read the answer for a model."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from pydantic_core import from_json

from sidecall.features.openapi_import.definitions import write_compact
from sidecall.features.openapi_import.planning import RequestPlan
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.injection import UserToken
from sidecall.kernel.json_data.foreign_json import parse_foreign
from sidecall.kernel.ports.user_tokens import UserTokenRefused
from sidecall.outgoing.clients import guarded_async_client

_PART = re.compile(r"\{([^{}]+)\}")
_DOTS = frozenset((".", ".."))
_HEADER = re.compile(r"[\t\x20-\x7e]*")
_PASSING = frozenset((408, 425, 429, 502, 503, 504))
_MOST_OF_ERROR = 4000
_MOST_REDIRECTS = 3
# Of each step; the whole has the operator's bound, and the call its deadline.
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_TEXTS = re.compile(r"text/.+|.*[/+](json|xml|yaml|x-ndjson|javascript|x-www-form-urlencoded)")


@dataclass(frozen=True, slots=True)
class Destination:
    """The host of a document's requests; `private` names it where it is not public."""

    host: str
    private: tuple[str, ...] = ()

    def open(self) -> httpx.AsyncClient:
        """Return a client that reaches this host alone."""
        return guarded_async_client(allow=(self.host,), private=self.private, timeout=_TIMEOUT)


async def send_request(
    plan: RequestPlan, to: Destination, args: Mapping[str, Any], secrets: Mapping[int, str], context: ToolContext
) -> Any:
    """Send the request of a call, and return its answer for a model.

    Args:
        plan: The plan of the request.
        to: The host.
        args: The call's arguments.
        secrets: The credentials, by their places in the plan.
        context: The call's context.

    Raises:
        ToolException: An argument cannot be sent, the service cannot be reached, or it answers with an error.
        UserTokenRefused: The service refuses the person's token.
    """
    proofs = _write_proofs(plan, secrets)
    body = {} if plan.body is None else await plan.body.write(args, context.read_content)
    headers = {**plan.headers, **_write_headers(plan, args), **proofs.get("header", {}), **body.pop("headers", {})}
    cookies = [pair for place, value in _choose(plan, args, "cookie") for pair in place.write_cookie(value)]
    cookies += [f"{name}={value}" for name, value in proofs.get("cookie", {}).items()]
    if cookies:
        headers["Cookie"] = "; ".join(cookies)
    url = write_url(plan, args, proofs.get("query", {}))
    try:
        async with to.open() as client:
            response = await _send(client, plan.method, url, headers, body)
            _refuse_token(response, plan, secrets)
            return await _read_answer(response, context)
    except httpx.TimeoutException:
        raise ToolException("The service did not answer in time. Try again later.", retryable=True) from None
    except (httpx.RequestError, httpx.InvalidURL):
        raise ToolException("The service cannot be reached. Try again later.", retryable=True) from None


def write_url(plan: RequestPlan, args: Mapping[str, Any], proofs: Mapping[str, str]) -> str:
    """Write the address of a request.

    Raises:
        ToolException: An argument would change the path.
    """
    parts: dict[str, str] = {place.name: place.write_path(value) for place, value in _choose(plan, args, "path")}

    def fill(found: re.Match[str]) -> str:
        if not parts.get(found[1]):
            raise ToolException(f"{found[1]}: is a part of the address, and must not be empty.")
        return parts[found[1]]

    path = _PART.sub(fill, plan.url)
    if not _DOTS.isdisjoint(path.split("/")):
        raise ToolException("An argument is a part of the address, and must not be `.` or `..`.")
    pairs = [pair for place, value in _choose(plan, args, "query") for pair in place.write_query(value)]
    pairs += [str(httpx.QueryParams({name: value})) for name, value in proofs.items()]
    return path + (("&" if "?" in path else "?") + "&".join(pairs) if pairs else "")


def _choose(plan: RequestPlan, args: Mapping[str, Any], where: str) -> list[tuple[Any, Any]]:
    return [
        (place, args[place.argument])
        for place in plan.places
        if place.where == where and place.argument in args and args[place.argument] is not None
    ]


def _write_headers(plan: RequestPlan, args: Mapping[str, Any]) -> dict[str, str]:
    headers = {}
    for place, value in _choose(plan, args, "header"):
        headers[place.name] = text = place.write_header(value)
        if not _HEADER.fullmatch(text):
            raise ToolException(f"{place.argument}: is sent in a header, and must be one line of ASCII.")
    return headers


def _write_proofs(plan: RequestPlan, secrets: Mapping[int, str]) -> dict[str, dict[str, str]]:
    proofs: dict[str, dict[str, str]] = {}
    for index, place in enumerate(plan.credentials):
        if value := secrets.get(index):
            proofs.setdefault(place.where, {})[place.name] = place.write(value)
    return proofs


async def _send(
    client: httpx.AsyncClient, method: str, url: str, headers: Mapping[str, str], body: Mapping[str, Any]
) -> httpx.Response:
    """Send a request, and follow redirects within the same host only, to keep its credentials there."""
    request = client.build_request(method, url, headers=dict(headers), **body)
    for _ in range(_MOST_REDIRECTS):
        response = await client.send(request)
        following = response.next_request
        is_same = following is not None and following.url.copy_with(path="/", query=None, fragment=None) == (
            request.url.copy_with(path="/", query=None, fragment=None)
        )
        if method not in ("GET", "HEAD") or following is None or not is_same:
            return response
        request = following
    return response


def _refuse_token(response: httpx.Response, plan: RequestPlan, secrets: Mapping[int, str]) -> None:
    """Ask a person to sign in again when the service refuses their token."""
    for index, place in enumerate(plan.credentials):
        if (
            response.status_code == httpx.codes.UNAUTHORIZED
            and isinstance(place.credential, UserToken)
            and (secrets.get(index))
        ):
            raise UserTokenRefused(place.credential.provider)


async def _read_answer(response: httpx.Response, context: ToolContext) -> Any:
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if not response.is_success:
        raise await _make_error(response, kind)
    if not response.content:
        return f"Done: {_write_status(response)}, without a body."
    if kind.endswith(("/json", "+json")):
        return await _compact(response)
    if not kind or _TEXTS.fullmatch(kind):
        return response.text
    if kind.startswith("image/"):
        return [{"type": "image", "base64": base64.b64encode(response.content).decode(), "mime_type": kind}]
    if context.contents is None:
        return f"A file of the type {kind}, {len(response.content)} bytes, which cannot be shown."
    content_id = await context.save_content(response.content, kind)
    return f"A file of the type {kind}, {len(response.content)} bytes, kept at /contents/{content_id}."


async def _compact(response: httpx.Response) -> str:
    """Write JSON without what a model need not read; what is none, or has too many values, is left as it is."""
    try:
        return await parse_foreign(response.content, lambda text: write_compact(from_json(text)))
    except ValueError:
        return response.text


def _write_status(response: httpx.Response) -> str:
    reason = response.reason_phrase if response.reason_phrase.isascii() else ""
    return f"{response.status_code} {reason[:60]}".strip()


async def _make_error(response: httpx.Response, kind: str) -> ToolException:
    """Format the error of a service: its status, and its own text as far as a model can use it."""
    is_text = not kind or _TEXTS.fullmatch(kind) is not None
    text = (await _compact(response) if kind.endswith(("/json", "+json")) else response.text) if is_text else ""
    if len(text) > _MOST_OF_ERROR:
        text = f"{text[:_MOST_OF_ERROR]}…"
    if response.is_redirect:
        text = f"It leads to {response.headers.get('Location', '')[:500]}, which is not followed."
    said = f"The service answers {_write_status(response)}" + (f": {text}" if text.strip() else ".")
    after = response.headers.get("Retry-After", "")
    seconds = float(after) if after.isdecimal() and len(after) < 7 else None
    is_passing = response.status_code in _PASSING
    return ToolException(said, retryable=is_passing, retry_after=seconds if is_passing else None)
