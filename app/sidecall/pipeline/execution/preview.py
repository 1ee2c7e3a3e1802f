"""Ask a tool's author what a call would do."""

from functools import partial
from typing import Any

from sidecall.core.approval import NO_PREVIEW, Preview
from sidecall.core.errors import ToolException
from sidecall.core.invocation import Invocation
from sidecall.core.jsonable import render_failure, replace_surrogates, to_plain, to_text
from sidecall.pipeline.hooks import HookFailed, call_beside, patience
from sidecall.telemetry import log_hook_failure

# Bytes of JSON: enough for a person to read, and too little to take the place of calls that wait.
_LONGEST = 16 * 1024


async def make_preview(invocation: Invocation) -> Preview:
    """Return what a call would do, once its arguments are checked; nothing that the author's preview does harms it."""
    hook = invocation.tool.preview
    if hook is None:
        return NO_PREVIEW
    try:
        said = await call_beside(
            hook, partial(hook.function, **hook.pick(invocation.values)), patience=patience(invocation)
        )
    except HookFailed as failed:
        return _explain(invocation, failed.__cause__ or failed)
    try:
        return _show(to_plain(said))
    except ValueError as error:
        return _explain(invocation, error)


def _show(plain: Any) -> Preview:
    size = len(to_text(plain).encode())
    if size > _LONGEST:
        return Preview(error=f"The preview is too long to be shown: {size:,} bytes, of {_LONGEST:,} at most.")
    return Preview(plain)


def _explain(invocation: Invocation, error: BaseException) -> Preview:
    """Make the words for a preview that failed; what a ToolException says is meant to be read."""
    if isinstance(error, ToolException):
        said = replace_surrogates(render_failure(error))
        return Preview(error=said[:_LONGEST])
    log_hook_failure(invocation, "the preview", error)
    return Preview(error="The preview failed. The details are in the log.")
