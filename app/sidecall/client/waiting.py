"""Calls of OpenAI Agents SDK runs that wait for a person to sign in."""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from agents.tool_context import ToolContext

from sidecall.client.failures import ApprovalNeeded, RequestRefused, ServerBusy

# Of each tool. A call that is pushed out is made anew when it is asked for again.
_MOST = 1000


@dataclass(frozen=True)
class _Waiting:
    call_id: str
    # Its run knows it by the id under which it was asked for last.
    latest: str
    asked: tuple[str, str]
    group: str | None
    mark: str | None


@dataclass(frozen=True)
class WaitingCalls:
    """The waiting calls of one tool: asked for again under another id, one would run twice.

    A run finds its own calls, those in its history, and those of its RunConfig's group, which is a conversation whose
    history may be stored elsewhere. No other run finds them.
    """

    name: str
    kept: deque[_Waiting] = field(default_factory=lambda: deque(maxlen=_MOST))
    # Runs may be in threads.
    lock: Any = field(default_factory=threading.Lock)

    @contextmanager
    def send(self, run: ToolContext[Any], arguments: str, context: Any) -> Iterator[str]:
        """Send a call under the id of an equal waiting one, else its own, and store it if it waits."""
        asked = _digest(arguments, context)
        call_id = self._take(run, arguments, asked)
        was_waiting = call_id != run.tool_call_id
        try:
            yield call_id
        except ApprovalNeeded as needed:
            if was_waiting or needed.approvals[0].sign_in is not None:
                self._keep(run, call_id, asked)
            raise
        except BaseException as error:
            # Refused, it waits no more; after a lost connection or an abandoned run that is unknown.
            if was_waiting and (isinstance(error, ServerBusy) or not isinstance(error, RequestRefused)):
                self._keep(run, call_id, asked)
            raise

    def _take(self, run: ToolContext[Any], arguments: str, asked: tuple[str, str]) -> str:
        with self.lock:
            likely = [it for it in self.kept if it.asked == asked]
            past = set(_list_calls(run.turn_input, self.name, arguments)) if likely else set[str]()
            for it in likely:
                if _is_own(it, run, past):
                    self.kept.remove(it)
                    return it.call_id
        return str(run.tool_call_id)

    def _keep(self, run: ToolContext[Any], call_id: str, asked: tuple[str, str]) -> None:
        mark = getattr(_recall(run, run.tool_call_id), "fingerprint", None)
        with self.lock:
            self.kept.append(_Waiting(call_id, run.tool_call_id, asked, _find_group(run), mark))


def _digest(arguments: str, context: Any) -> tuple[str, str]:
    # Not kept themselves, since they may be long, or secret.
    said = (arguments, json.dumps(context, sort_keys=True))
    first, second = (hashlib.sha256(it.encode(errors="surrogatepass")).hexdigest() for it in said)
    return first, second


def _is_own(waiting: _Waiting, run: ToolContext[Any], past: Collection[str]) -> bool:
    record = _recall(run, waiting.latest)
    if record is not None and record.fingerprint == waiting.mark:
        # Otherwise it is another call of the same message, and none that is asked for again.
        return bool(record.completed)
    if waiting.call_id in past or waiting.latest in past:
        return True
    return waiting.group is not None and waiting.group == _find_group(run)


def _recall(run: ToolContext[Any], call_id: str) -> Any:
    """Return the stored id of a run's call, also for a run resumed from a serialized state."""
    # The SDK has no public name for this.
    return getattr(run, "_tool_invocations", {}).get(call_id)


def _find_group(run: ToolContext[Any]) -> str | None:
    return None if run.run_config is None else run.run_config.group_id


def _list_calls(items: Iterable[Any], name: str, arguments: str) -> Iterator[str]:
    """List the ids of equal calls in a history."""
    for item in items:
        call = item if isinstance(item, Mapping) else getattr(item, "__dict__", {})
        if (call.get("type"), call.get("name"), call.get("arguments")) == ("function_call", name, arguments):
            yield str(call.get("call_id"))
