"""Assemble the state of an agent's A2A task from its events."""

from collections.abc import Callable, Mapping
from typing import Any

from sidecall.features.remote_agents.turns import AgentAnswer, AgentQuestion
from sidecall.kernel.core.errors import ToolException

_ASKING = {
    "TASK_STATE_INPUT_REQUIRED": "The agent asks for more.",
    "TASK_STATE_AUTH_REQUIRED": "The agent asks somebody to sign in.",
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
        self._artifacts[name] = [*self._artifacts.get(name, ()), *parts] if append else parts
        self._report(_join_texts(parts))


def _list_parts(holder: Any) -> list[Mapping[str, Any]]:
    parts = holder.get("parts") if isinstance(holder, Mapping) else None
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _join_texts(parts: list[Mapping[str, Any]]) -> str:
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
