"""Keep the secrets of a call out of its answer, its events and its log lines."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.concurrency.backpressure import Pause
from sidecall.kernel.core.context import EventListener
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ABSENT, find_value, keep_value
from sidecall.kernel.core.secret_mask import SecretMask
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.to_json import to_plain


def takes_secrets(tool: CompiledTool) -> bool:
    """Return whether a tool is given secrets."""
    return any(injection.source in ("secret", "user_token") for injection in tool.injections)


def hide_in_events(invocation: Invocation) -> None:
    """Mask the call's secrets in the events that listeners get."""
    mask, listener = invocation.mask, invocation.request.listener
    if mask is None or listener is None:
        return
    heard = MaskedListener(mask, listener)
    invocation.request = invocation.request.copy_with(listener=heard)
    invocation.tool_context.signals.listener = heard


def hide_in_answer(invocation: Invocation) -> None:
    """Mask the call's secrets in its answer, or in its error."""
    mask, message = invocation.mask, invocation.message
    if mask is None:
        return
    if message is not None:
        value = find_value(message)
        if value is not ABSENT:
            keep_value(message, mask.hide(to_plain(value)))
        message.content = mask.hide(message.content)
        message.artifact = mask.hide(message.artifact)
        message.additional_kwargs = mask.hide(message.additional_kwargs)
        message.response_metadata = mask.hide(message.response_metadata)
    elif isinstance(invocation.error, RequestError):
        error = invocation.error
        error.args = tuple(mask.hide(arg) for arg in error.args)
        error.members = mask.hide(error.members)


class MaskedListener:
    """Pass on a call's events without its secrets.

    Of a text in parts, the end of each part is held back while it may be the beginning of a secret.
    """

    def __init__(self, mask: SecretMask, listener: EventListener) -> None:
        self._mask = mask
        self._listener = listener
        self._held = ""

    def __call__(self, kind: str, call_id: str, said: Mapping[str, Any]) -> Pause | None:
        """Pass on one event."""
        if kind == "partial" and isinstance(said.get("content"), str):
            text = self._mask.hide_in_text(self._held + said["content"])
            length = self._mask.measure_begun(text)
            text, self._held = text[: len(text) - length], text[len(text) - length :]
            return self._listener(kind, call_id, {**said, "content": text}) if text else None
        return self._listener(kind, call_id, self._mask.hide(said))
