"""Turn a request's body into the bytes of its answer, for the fast path and the routes."""

from collections.abc import Awaitable, Coroutine, Sequence
from math import inf
from typing import Any

from pydantic_core import to_json

from sidecall.http.answer_headers import cache_headers, quota_headers, waiting_headers
from sidecall.http.context import RequestContext
from sidecall.http.fast_path import NO_HEADERS, Reply
from sidecall.http.preferences import PLAIN, InvalidKey, Preferences
from sidecall.kernel.core.content_blocks import holds_media
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import CallbackRefused, MissingContext, NotAToolCall, RequestError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage, find_artifact
from sidecall.kernel.core.origin import may_name_origin
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.large_values import LONGEST, is_bulky
from sidecall.kernel.json_data.to_json import dump_plain
from sidecall.kernel.pipeline.batch import keep, run_batch
from sidecall.kernel.pipeline.format import changes_state
from sidecall.kernel.pipeline.hooks import is_surely_visible, is_visible
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.rest.dialect_writers import write_openai
from sidecall.rest.native_calls.writing import name_failure
from sidecall.rest.parsed_call import DialectName, ReceivedCall, make_request
from sidecall.rest.parts import Parts
from sidecall.rest.plain_calls import read_other_call, read_plain_call, write_answer
from sidecall.rest.served_examples import name_served


async def answer_call(
    parts: Parts,
    body: bytes,
    context: RequestContext,
    form: DialectName | None = None,
    preferences: Preferences = PLAIN,
) -> Reply:
    """Run the call in a body; the answer has the requested form, or that of the call.

    Raises:
        RequestError: The calling program has to mend something.
    """
    came = begin_answer(parts, body, context, form, preferences)
    del body  # It may be large, and what was read of it may wait for long.
    return came if isinstance(came, Reply) else await came


def begin_answer(
    parts: Parts,
    body: bytes,
    context: RequestContext,
    form: DialectName | None = None,
    preferences: Preferences = PLAIN,
) -> Reply | Coroutine[Any, Any, Reply]:
    """Do so at once if nothing must be awaited, else return an awaitable that must be awaited first.

    Raises:
        RequestError: The calling program has to mend something.
    """
    sent = read_plain_call(body, parts.registry) or _read_other_call(parts, body, context.caller)
    if form is not None:
        sent.dialect = form
    tool = parts.registry.get(sent.call.name)
    request = make_request(sent, context)
    # The last two are `goes_on_alone`, spelled out since every call passes here.
    if tool is not None and (
        preferences is not PLAIN or tool.options.is_remembered or sent.is_async or sent.callback_url is not None
    ):
        if parts.durable.answer is None:
            _refuse_to_remember(preferences, sent)
        elif is_surely_visible(tool, request.sender.caller):
            return parts.durable.answer(parts, request, tool, preferences, context, sent)
        else:
            return _remember(parts, sent, request, context, tool, preferences)
    return _begin(parts, request, sent.dialect, context, tool)


def _read_other_call(parts: Parts, body: bytes, caller: Caller) -> ReceivedCall:
    try:
        return read_other_call(body, parts.registry)
    except NotAToolCall as error:
        name_served(error, parts.registry, caller)
        raise


def _refuse_to_remember(preferences: Preferences, sent: ReceivedCall) -> None:
    """Refuse what only a server that remembers calls can keep; a wish not to wait is one that may stay unfulfilled.

    Raises:
        InvalidKey: The same call is not to run twice.
        CallbackRefused: Its end is to be told elsewhere.
    """
    if preferences.key is not None:
        raise InvalidKey("This server remembers no calls: leave `Idempotency-Key` out.")
    if sent.callback_url is not None:
        raise CallbackRefused("This server tells nobody of the ends of calls: leave `callback_url` out.")


async def _remember(
    parts: Parts,
    sent: ReceivedCall,
    request: CallRequest,
    context: RequestContext,
    tool: CompiledTool,
    preferences: Preferences,
) -> Reply:
    if await is_visible(tool, request.sender.caller, request.context):
        assert parts.durable.answer is not None
        return await parts.durable.answer(parts, request, tool, preferences, context, sent)
    # Tools may have been loaded again in the meantime.
    came = _begin(parts, request, sent.dialect, context, parts.registry.get(sent.call.name))
    return came if isinstance(came, Reply) else await came


def _begin(
    parts: Parts, request: CallRequest, dialect: DialectName, context: RequestContext, tool: CompiledTool | None
) -> Reply | Coroutine[Any, Any, Reply]:
    pipeline = parts.pipeline
    try:
        came = pipeline.begin(request, tool)
        if not isinstance(came, ToolMessage):
            return _go_on(parts, request, dialect, came, context, tool)
        said = came.__dict__  # At once, since a model looks far for each attribute.
        content = said["content"]
        is_large = said["artifact"] is not None or (type(content) is str and len(content) > LONGEST)
        if is_large or (dialect == "openai" and type(content) is not str):
            return _go_on(parts, request, dialect, came, context, tool)
        is_common = not said["additional_kwargs"]
        # Its values are plain, so that nothing else becomes of the model, which takes longer.
        answer = dump_plain(said if is_common and dialect == "langchain" else write_answer(came, dialect))
    except BaseException as error:
        reply = answer_instead(parts, request, error)
        if reply is None:
            raise
        return reply
    if pipeline.results.shares:
        pipeline.results.release(context.presence)
    # As `_make_headers` finds out for the others.
    is_counted = pipeline.gate.has_rate or tool is None or tool.options.rate is not None
    if is_common and not is_counted and "cache" not in said["response_metadata"]:
        return Reply(answer, 200, NO_HEADERS)
    return Reply(answer, 200, _make_headers(parts, request, dialect, came, tool))


async def _go_on(
    parts: Parts,
    request: CallRequest,
    dialect: DialectName,
    came: ToolMessage | Awaitable[ToolMessage],
    context: RequestContext,
    tool: CompiledTool | None,
) -> Reply:
    try:
        message = came if isinstance(came, ToolMessage) else await came
        whole = write_answer(message, dialect) if dialect != "openai" else await _write_text(parts, message, context)
        answer = await write_whole(parts, whole, message)
    except BaseException as error:
        reply = answer_instead(parts, request, error)
        if reply is None:
            raise
        return reply
    if parts.pipeline.results.shares:
        parts.pipeline.results.release(context.presence)
    return Reply(answer, 200, _make_headers(parts, request, dialect, message, tool))


def answer_instead(parts: Parts, request: CallRequest, error: BaseException) -> Reply | None:
    """Return the answer to a call that has no message; None for an error to be raised."""
    if parts.pipeline.results.shares:
        parts.pipeline.results.release(request.sender.holder)
    if isinstance(error, ApprovalRequired):
        headers = find_quota_headers(parts, request.sender.caller, request.call.name)
        return Reply(to_json(error.approval), 202, {"Location": f"/approvals/{error.approval.id}"} | headers)
    if isinstance(error, RequestError):
        error.quotas = error.quotas or parts.pipeline.gate.quotas_of(request.sender.caller, request.call.name)
    return None


def _make_headers(
    parts: Parts, request: CallRequest, dialect: DialectName, message: ToolMessage, tool: CompiledTool | None
) -> dict[str, str]:
    is_counted = parts.pipeline.gate.counts(tool)
    headers = find_quota_headers(parts, request.sender.caller, request.call.name) if is_counted else {}
    if message.additional_kwargs or "cache" in message.response_metadata:
        headers |= _tell(message, dialect)
    return headers


def _tell(message: ToolMessage, dialect: DialectName) -> dict[str, str]:
    """Return headers for information that the answer's form may have no room for."""
    cached = message.response_metadata.get("cache")
    failure = name_failure(message, dialect) if message.additional_kwargs else {}
    return failure | ({} if cached is None else cache_headers(cached))


async def answer_calls(
    parts: Parts, calls: Sequence[ReceivedCall], context: RequestContext, form: DialectName | None = None
) -> Reply:
    """Run the calls of a batch, and answer them in order."""
    requests = [make_request(sent, context) for sent in calls]
    dialects = [form or sent.dialect for sent in calls]
    try:
        messages = await run_batch(parts.run, parts.registry.get, requests, keep, parts.pipeline.portions)
        # Most are short texts, which need no closer look.
        if sum(map(_count_short, messages)) <= LONGEST:
            body = dump_plain([*map(_write_short, messages, dialects)])
        else:
            answers: list[Any] = [
                await _write_text(parts, message, context) if dialect == "openai" else write_answer(message, dialect)
                for message, dialect in zip(messages, dialects, strict=True)
            ]
            body = await write_json(parts, answers, messages)
    finally:
        if parts.pipeline.results.shares:
            parts.pipeline.results.release(context.presence)
    headers = waiting_headers(messages)
    if parts.pipeline.gate.has_rate:
        headers |= find_quota_headers(parts, context.caller)
    return Reply(body, 200, headers)


def _write_short(message: ToolMessage, dialect: DialectName) -> Any:
    """Write an answer that is a text, and has nothing beside it; the values of such a message are plain."""
    return message.__dict__ if dialect == "langchain" else write_answer(message, dialect)


def _count_short(message: ToolMessage) -> float:
    """Count the characters of an answer that is a text; one that has more counts as one without end."""
    said = message.__dict__
    content, beside = said["content"], said["artifact"] is not None or said["additional_kwargs"]
    return inf if beside or type(content) is not str or changes_state(message) else len(content)


def _may_be_large(message: ToolMessage) -> bool:
    """Return whether writing takes a closer look; a text is written at once, unless it takes too long for the loop."""
    content = message.content
    if find_artifact(message) is not None or type(content) is not str:
        return True
    return len(content) > LONGEST and is_bulky(message)


async def write_whole(parts: Parts, answer: Any, message: ToolMessage) -> bytes:
    """Serialize the answer that was made of a message."""
    if _may_be_large(message):
        return await write_json(parts, answer, message)
    # The values of such a message are plain, unless it has some of its tool beside it.
    return dump_plain(message.__dict__ if answer is message and not message.additional_kwargs else answer)


async def write_json(parts: Parts, answer: Any, large: Any) -> bytes:
    """Serialize an answer to JSON, outside the event loop if `large` is large."""
    return await parts.pipeline.results.write(answer) if is_bulky(large) else to_json(answer)


async def require_context(parts: Parts, calls: Sequence[ReceivedCall], context: RequestContext) -> None:
    """Check, before any call of a batch runs, that the program sent the context that their tools need.

    Raises:
        MissingContext: It did not; the error names the calls by their index.
    """
    errors = []
    names_nothing = not may_name_origin(context.headers)
    for index, sent in enumerate(calls):
        tool = parts.registry.get(sent.call.name)
        if names_nothing and not sent.context and (tool is None or not tool.injections):
            continue  # As `find_missing` would find out.
        missing = await parts.pipeline.find_missing(make_request(sent, context))
        if missing is not None:
            errors.append({"loc": [index], "type": "missing_context", "msg": missing.message})
    if errors:
        where = "; ".join(f"[{error['loc'][0]}] {error['msg']}" for error in errors)
        raise MissingContext(f"Nothing was run: {where}", errors=errors)


async def _write_text(parts: Parts, message: ToolMessage, context: RequestContext) -> dict[str, Any]:
    """Write a message of Chat Completions; content that it has no form for is stored under a URL."""
    if not holds_media(message.content):
        return write_openai(message)
    content_id = await parts.keep_content(to_json(message.content), context.caller)
    return write_openai(message, content_url(content_id))


def content_url(content_id: str | None) -> str | None:
    """Return the URL of a content."""
    return None if content_id is None else f"/contents/{content_id}"


def find_quota_headers(parts: Parts, caller: Caller, tool: str | None = None) -> dict[str, str]:
    """Return the quota headers, of all calls and of a single call's tool."""
    return quota_headers(parts.pipeline.gate.quotas_of(caller, tool))
