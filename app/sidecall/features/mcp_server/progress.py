"""Write how far a call has come, as its client wants to be told."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import TypeIs

from sidecall.features.mcp_server.wire import Id, write_notification
from sidecall.kernel.core.context import EventListener

# Schedules a message, from any thread.
PassOn = Callable[[Callable[[], bytes]], None]


def make_progress_listener(token: Id, pass_on: PassOn) -> EventListener:
    """Make a listener that sends progress under the client's token; values that do not increase are skipped."""
    reached = -math.inf

    def listen(kind: str, _call_id: str, said: Mapping[str, Any]) -> None:
        nonlocal reached
        done, total, text = said.get("done"), said.get("total"), said.get("message")
        if kind != "progress" or not _is_number(done) or done <= reached:
            return
        reached = done
        params: dict[str, Any] = {"progressToken": token, "progress": done}
        if _is_number(total):
            params["total"] = total
        if isinstance(text, str) and text:
            params["message"] = text
        pass_on(lambda: write_notification("notifications/progress", params))

    return listen


def _is_number(value: Any) -> TypeIs[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
