"""Ask an agent that speaks A2A 1.0, over JSON-RPC or plain HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sidecall.features.remote_agents.chat import AgentAnswer, AgentQuestion, AgentTurn
from sidecall.features.remote_agents.connection import AgentConnection
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.json_data.text import MOST_AT_ONCE

_ASKING = {
    "TASK_STATE_INPUT_REQUIRED": "The agent asks for more.",
    "TASK_STATE_AUTH_REQUIRED": "The agent asks for a sign-in.",
}

_FAILED = {
    "TASK_STATE_FAILED": "The agent's task has failed",
    "TASK_STATE_CANCELED": "The agent's task was cancelled",
    "TASK_STATE_REJECTED": "The agent has rejected the task",
}

_OVER = frozenset(("TASK_STATE_COMPLETED", *_ASKING, *_FAILED))

_MOST_ARTIFACTS = 1000


class AgentTask:
    """The known state of a task; `report` is called with its status messages."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self.task_id: str | None = None
        self._context_id: str | None = None
        self._state = ""
        self._said: list[Mapping[str, Any]] = []
        self._artifacts: dict[str, list[Mapping[str, Any]]] = {}
        self._values: dict[str, int] = {}
        self._value_count = 0
        self._has_message = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come before the next message to the agent."""
        return self._has_message or self._state in _OVER

    def take(self, event: Any) -> None:
        """Note an event: a task, a message, a change of state or an artifact."""
        if not isinstance(event, Mapping):
            return
        for name, note in (
            ("task", self._take_task),
            ("message", self._take_message),
            ("statusUpdate", self._take_status),
            ("artifactUpdate", self._take_artifact),
        ):
            if isinstance(event.get(name), Mapping):
                note(event[name])

    def finish(self) -> AgentAnswer:
        """Return the result.

        Raises:
            ToolException: The task has failed.
        """
        said = _join_texts(self._said)
        if self._state in _FAILED:
            raise ToolException(f"{_FAILED[self._state]}: {said[:1000]}" if said else f"{_FAILED[self._state]}.")
        if self._state in _ASKING:
            state = {"task_id": self.task_id, "context_id": self._context_id}
            question = AgentQuestion(said or _ASKING[self._state], state, {"state": self._state})
            return AgentAnswer("", self._context_id, self.task_id, question=question)
        made = [part for parts in self._artifacts.values() for part in parts]
        text = _join_texts(made) or said
        others = [part for part in [*made, *self._said] if "text" not in part]
        return AgentAnswer(text or "Done.", self._context_id, self.task_id, others)

    def _take_task(self, task: Mapping[str, Any]) -> None:
        self._take_ids(task, "id")
        artifacts = task.get("artifacts")
        for artifact in artifacts if isinstance(artifacts, list) else ():
            self._keep(artifact, append=False)
        self._set_status(task.get("status"))

    def _take_message(self, message: Mapping[str, Any]) -> None:
        self._take_ids(message, "taskId")
        self._said, self._has_message = _list_parts(message), True

    def _take_status(self, update: Mapping[str, Any]) -> None:
        self._take_ids(update, "taskId")
        self._set_status(update.get("status"))

    def _take_artifact(self, update: Mapping[str, Any]) -> None:
        self._take_ids(update, "taskId")
        self._keep(update.get("artifact"), append=update.get("append") is True)

    def _take_ids(self, said: Mapping[str, Any], name: str) -> None:
        self.task_id = str(said[name]) if said.get(name) else self.task_id
        self._context_id = str(said["contextId"]) if said.get("contextId") else self._context_id

    def _set_status(self, status: Any) -> None:
        if not isinstance(status, Mapping):
            return
        before, self._state = (self._state, self._said), str(status.get("state", ""))
        self._said = _list_parts(status.get("message"))
        if self._said and before != (self._state, self._said) and self._state not in _OVER:
            self._report(_join_texts(self._said))

    def _keep(self, artifact: Any, *, append: bool) -> None:
        if not isinstance(artifact, Mapping) or len(self._artifacts) >= _MOST_ARTIFACTS:
            return
        name, parts = str(artifact.get("artifactId")), _list_parts(artifact)
        self._bound(name, parts, append=append)
        if append:
            self._artifacts.setdefault(name, []).extend(parts)
        else:
            self._artifacts[name] = parts
        self._report(_join_texts(parts))

    def _bound(self, name: str, parts: list[Mapping[str, Any]], *, append: bool) -> None:
        """Count the values of all artifacts together; no event alone exceeds the bound."""
        before, values = self._values.get(name, 0), _count_values(parts)
        self._values[name] = values + (before if append else 0)
        self._value_count += self._values[name] - before
        if self._value_count > MOST_AT_ONCE:
            raise ToolException(f"The agent's answer cannot be read: it has more than {MOST_AT_ONCE:,} values.")


def _count_values(value: Any) -> int:
    waiting, count = [value], 0
    while waiting:
        found = waiting.pop()
        count += 1
        if isinstance(found, Mapping):
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
    return count


def _list_parts(holder: Any) -> list[Mapping[str, Any]]:
    parts = holder.get("parts") if isinstance(holder, Mapping) else None
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _join_texts(parts: list[Mapping[str, Any]]) -> str:
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


VERSION_HEADERS = {"A2A-Version": "1.0"}

CARD = "/.well-known/agent-card.json"

_BINDINGS = ("JSONRPC", "HTTP+JSON")

_PAUSE, _LONGEST_PAUSE = 0.1, 2.0

_TOO_OLD = "The agent speaks A2A {}, and 1.0 is needed. Ask its operator to offer 1.0."

_ERRORS = {-32009: _TOO_OLD.format("of another version"), -32601: _TOO_OLD.format("0.3 or older")}


@dataclass(frozen=True, slots=True)
class A2aInterface:
    """The address of an agent, and its binding."""

    url: str
    is_rpc: bool = True
    tenant: str | None = None
    can_stream: bool = False

    @classmethod
    def choose(cls, card: Any) -> "A2aInterface":
        """Choose the first supported interface of a card.

        Raises:
            ToolException: There is none.
        """
        if not isinstance(card, Mapping):
            raise ToolException("The agent's card cannot be read.")
        listed = card.get("supportedInterfaces")
        interfaces = [it for it in listed if isinstance(it, Mapping)] if isinstance(listed, list) else []
        capabilities = card.get("capabilities")
        streams = isinstance(capabilities, Mapping) and capabilities.get("streaming") is True
        for one in interfaces:
            is_new = str(one.get("protocolVersion", "")).startswith("1.")
            if is_new and one.get("protocolBinding") in _BINDINGS:
                url, tenant = str(one.get("url", "")).rstrip("/"), one.get("tenant")
                return cls(url, one["protocolBinding"] == "JSONRPC", str(tenant) if tenant else None, streams)
        versions = [str(one.get("protocolVersion")) for one in interfaces] or [str(card.get("protocolVersion"))]
        raise ToolException(_TOO_OLD.format(", ".join(versions)[:100]))


@dataclass(frozen=True, slots=True)
class _Wire:
    """Messages to an agent, in either binding."""

    line: AgentConnection
    to: A2aInterface

    def write(self, method: str, params: Mapping[str, Any]) -> tuple[str, Any]:
        named = {**params, "tenant": self.to.tenant} if self.to.tenant else dict(params)
        if self.to.is_rpc:
            return self.to.url, {"jsonrpc": "2.0", "id": str(uuid4()), "method": method, "params": named}
        paths = {"SendMessage": "/message:send", "SendStreamingMessage": "/message:stream"}
        tenant = f"/{self.to.tenant}" if self.to.tenant else ""
        path = paths.get(method) or f"/tasks/{params.get('id')}{':cancel' if method == 'CancelTask' else ''}"
        return f"{self.to.url}{tenant}{path}", dict(params)

    async def call(self, method: str, params: Mapping[str, Any]) -> Any:
        url, body = self.write(method, params)
        if method == "GetTask" and not self.to.is_rpc:
            return await self.line.get(url)
        return self._open(await self.line.post(url, body))

    async def stream(self, params: Mapping[str, Any]) -> AsyncIterator[Any]:
        url, body = self.write("SendStreamingMessage", params)
        async for event in self.line.stream(url, body):
            yield self._open(event)

    def _open(self, said: Any) -> Any:
        if not isinstance(said, Mapping):
            raise ToolException("The agent's answer is none of A2A.")
        error = said.get("error")
        if isinstance(error, Mapping):
            code = error.get("code")
            raise ToolException(
                _ERRORS.get(code if isinstance(code, int) else 0)
                or f"The agent refuses: {str(error.get('message'))[:500]}"
            )
        return said.get("result") if self.to.is_rpc else said


async def ask_a2a(line: AgentConnection, to: A2aInterface, turn: AgentTurn) -> AgentAnswer:
    """Send a text or a person's decision, and follow the agent's task to its end or to a question.

    Raises:
        ToolException: The agent cannot answer, or its task has failed.
    """
    wire, task = _Wire(line, to), AgentTask(line.tell)
    params = {"message": _write_message(turn)}
    line.has_begun = True
    if line.streams and to.can_stream:
        async for event in wire.stream(params):
            _note(wire, task, event)
            if task.is_over:
                break
    else:
        # At once, so that there is a task to cancel.
        _note(wire, task, await wire.call("SendMessage", {**params, "configuration": {"returnImmediately": True}}))
    pause = _PAUSE
    while not task.is_over:
        if task.task_id is None:
            raise ToolException("The agent has ended without an answer.")
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
        task.take({"task": await wire.call("GetTask", {"id": task.task_id})})
    return task.finish()


def _note(wire: _Wire, task: AgentTask, event: Any) -> None:
    task.take(event)
    if task.task_id is not None:
        wire.line.end_with(*wire.write("CancelTask", {"id": task.task_id}))


def _write_message(turn: AgentTurn) -> dict[str, Any]:
    message: dict[str, Any] = {"messageId": str(uuid4()), "role": "ROLE_USER"}
    if turn.resumed is None:
        named = {} if turn.context_id is None else {"contextId": turn.context_id}
        return {**message, **named, "parts": [{"text": turn.text}]}
    named = {"taskId": turn.resumed["task_id"], "contextId": turn.resumed["context_id"]}
    return {**message, **named, "parts": [{"text": turn.answer}]}
