"""The hot requests of REST, in the form that the fast path serves."""

from collections.abc import Awaitable, Mapping
from functools import lru_cache, partial
from typing import Annotated, Any

from fastapi import Depends, Header
from fastapi.exceptions import RequestValidationError
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope

from sidecall.http.authentication import CALLER, HEADERS
from sidecall.http.context import RequestContext
from sidecall.http.disconnect import DisconnectSweep
from sidecall.http.fast_path import SHOWN, Reply, Shortcut
from sidecall.http.plain_requests import REMEMBERING, WithBody, with_body, without
from sidecall.http.preferences import PLAIN, Preferences, make_preferences, read_preferences
from sidecall.kernel.pipeline.hooks import NO_CONTEXT
from sidecall.lazy_imports import Later
from sidecall.rest.answers import begin_answer
from sidecall.rest.listings import Listing
from sidecall.rest.parts import Parts

# What a single call does not need: the routes of calls, with all their models.
_tool_calls = Later("sidecall.rest.routes.tool_calls")

NAME = "X-Sidecall-Context"
# Characters; what is longer is no question about what to show.
MOST = 8192

_Text = Annotated[
    str | None,
    Header(
        alias=NAME,
        description="The context of the calls to come, a JSON object of at most 8192 characters: tools may be enabled"
        " by it.",
        # No schema of OpenAPI says of a header's text that it is a JSON object; docs/http.md does.
        include_in_schema=False,
    ),
]


async def _read(text: _Text = None) -> Mapping[str, Any]:
    if text is None:
        return NO_CONTEXT
    if len(text) > MOST:
        raise _refuse("too_long", f"A context in a header has at most {MOST} characters.")
    try:
        # Servers read headers as Latin-1; JSON is UTF-8.
        context = from_json(text.encode("latin-1"), allow_inf_nan=False)
    except ValueError:
        raise _refuse("json_invalid", "The context is no JSON.") from None
    if not isinstance(context, dict):
        raise _refuse("dict_type", "The context has to be a JSON object.")
    return context


def _refuse(kind: str, text: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("header", NAME), "type": kind, "msg": text}])


# The context by which tools are listed; empty where none was sent.
ShownContextDep = Annotated[Mapping[str, Any], Depends(_read)]


_remembers_nothing = REMEMBERING.isdisjoint
# Such a header has to be read, if only to be refused.
SHOWN_CONTEXT = NAME.lower().encode()


def make_shortcuts(parts: Parts) -> dict[str, Shortcut]:
    """Make the shortcuts, by path."""

    def list_tools(scope: Scope, _receive: Receive) -> Reply | None:
        if (
            scope["method"] != "GET"
            or SHOWN_CONTEXT in scope[HEADERS]
            or (listing := parts.listings.pages.find(scope["query_string"], scope.get(CALLER))) is None
        ):
            return None
        # Spelled out, since clients ask for little else as often.
        return listing.whole if b"if-none-match" not in scope[HEADERS] else _choose(listing, scope)

    def show_tool(scope: Scope, _receive: Receive) -> Reply | None:
        if scope["method"] != "GET" or scope["query_string"] or SHOWN_CONTEXT in scope[HEADERS]:
            return None
        shown = parts.listings.details.find(scope["path_params"]["name"].encode(), scope.get(CALLER))
        return None if shown is None else _choose(shown, scope)

    sweep = DisconnectSweep()
    call = with_body(parts.bounds, sweep, _make_call(parts), partial(_begin_events, parts))
    batch = with_body(parts.bounds, sweep, partial(_call_all, parts), partial(_begin_events_of_batch, parts))
    batch = without(REMEMBERING, batch)
    return {"/tool_calls": call, "/tool_calls/batch": batch, "/tools": list_tools, SHOWN: show_tool}


def _choose(listing: Listing, scope: Scope) -> Reply:
    if_none_match = scope[HEADERS].get(b"if-none-match")
    return listing.whole if if_none_match is None else listing.reply_to(if_none_match.decode("latin-1"))


def _make_call(parts: Parts) -> WithBody:
    """Make what answers a single call by its body."""

    def call(scope: Scope, _receive: Receive, context: RequestContext, body: bytes) -> Reply | Awaitable[Reply]:
        preferences = PLAIN if _remembers_nothing(scope[HEADERS]) else _read_preferences(scope, parts)
        work = begin_answer(parts, body, context, None, preferences)
        # A durable call continues in a task of its own, which its waiters listen to.
        if isinstance(work, Reply) or preferences is not PLAIN:
            return work
        del body
        _, came = context.begin_while_present(work)
        answer: Reply | Awaitable[Reply] = came
        return answer

    return call


def _call_all(
    parts: Parts, _scope: Scope, _receive: Receive, context: RequestContext, body: bytes
) -> Reply | Awaitable[Reply]:
    came: Reply | Awaitable[Reply]
    work = _tool_calls.answer_batch(parts, body, context)
    _, came = context.begin_while_present(work)
    return came


async def _begin_events(parts: Parts, scope: Scope, receive: Receive, context: RequestContext, body: bytes) -> Response:
    events: Response = _tool_calls.begin_events(parts, Request(scope, receive), body, context)
    return events


async def _begin_events_of_batch(
    parts: Parts, scope: Scope, receive: Receive, context: RequestContext, body: bytes
) -> Response:
    request = Request(scope, receive)
    events: Response = await _tool_calls.begin_events_of_batch(parts, request, body, context)
    return events


def _read_preferences(scope: Scope, parts: Parts) -> Preferences:
    headers = scope[HEADERS]
    prefer, key = headers.get(b"prefer"), headers.get(b"idempotency-key")
    longest = parts.durable.longest_wait
    if len(headers) != len(scope["headers"]):  # Some header came twice.
        return read_preferences(Headers(scope=scope), longest)
    if key is None:
        return _read_prefer(prefer, longest)
    return make_preferences("" if prefer is None else prefer.decode("latin-1"), key.decode("latin-1"), longest)


@lru_cache(maxsize=64)
def _read_prefer(prefer: bytes, longest: float) -> Preferences:
    return make_preferences(prefer.decode("latin-1"), None, longest)
