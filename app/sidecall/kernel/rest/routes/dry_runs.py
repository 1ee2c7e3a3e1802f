"""Answer what calls would do, without running them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic_core import to_json

from sidecall.features.native_items.rest.received import DialectName, ReceivedCall, make_request
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.http.context import RequestContext
from sidecall.kernel.http.reply import Reply
from sidecall.kernel.pipeline.dry_run import DryRunResult
from sidecall.kernel.pipeline.isolate import answer_for
from sidecall.kernel.rest.answers import find_quota_headers
from sidecall.kernel.rest.parts import Parts
from sidecall.kernel.rest.plain_calls import write_answer
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.kernel.rest import wire as _wire
else:
    _wire = Later("sidecall.kernel.rest.wire")


async def dry_run_call(
    parts: Parts, sent: ReceivedCall, context: RequestContext, form: DialectName | None = None
) -> Reply:
    """Return what a call would do, without running it; it counts against quotas.

    Raises:
        RequestError: The calling program has to mend something.
    """
    if sent.callback_url is not None:
        parts.receivers.find(sent.callback_url)
    try:
        result = await parts.pipeline.dry_run(make_request(sent, context))
    except RequestError as error:
        error.quotas = error.quotas or parts.pipeline.gate.quotas_of(context.caller, sent.call.name)
        raise
    headers = find_quota_headers(parts, context.caller, sent.call.name)
    return Reply(to_json(_write_dry_run(sent, result, form)), 200, headers)


async def dry_run_calls(
    parts: Parts, calls: Sequence[ReceivedCall], context: RequestContext, form: DialectName | None = None
) -> Reply:
    """Return what the calls of a batch would do, in order."""
    results = []
    for sent in calls:
        request = make_request(sent, context)
        try:
            result = await parts.pipeline.dry_run(request)
        except RequestError as error:
            result = DryRunResult(message=answer_for(request, error))
        results.append(_write_dry_run(sent, result, form))
    return Reply(to_json(results), 200, find_quota_headers(parts, context.caller))


def _write_dry_run(sent: ReceivedCall, result: DryRunResult, form: DialectName | None) -> "_wire.DryRun":
    message = result.message
    return _wire.DryRun(
        would_run=result.would_run,
        name=sent.call.name,
        tool_call_id=sent.call.id,
        args=result.args if message is None else None,
        requires_approval=result.requires_approval,
        repaired=result.repaired,
        ignored_args=result.ignored,
        preview=result.preview.shown,
        preview_error=result.preview.error,
        message=None if message is None else write_answer(message, form or sent.dialect),
        approval=result.approval,
        sign_in=result.sign_in,
    )
