"""Interrupt a graph about an approval, and find what it was resumed with about that one and no other."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from sidecall.client.answers import CallApproval
from sidecall.client.failures import ApprovalNeeded, Conflicting, RequestUnfit
from sidecall.client.graphs.decisions import read_resumption
from sidecall.client.questions import is_shown

# Where LangGraph keeps what interrupts were answered with, in the config of a task. It has no public name for these.
_PAD = "__pregel_scratchpad"
_SAVER = "__pregel_checkpointer"
_TASK = "__pregel_task_id"
_SEND = "__pregel_send"
_ANSWERS = "__resume__"
_OF_NO_TASK = "00000000-0000-0000-0000-000000000000"
_BY_IDS = "__pregel_resume_map"
# In the value of an interrupt: how many the step had that were answered before, which is the place of its answer.
_PLACE = "answered_before"
# The calls of a turn may run in threads of one task.
_TAKING = threading.Lock()


@dataclass
class GraphStep:
    """The step of a graph in which a call runs; LangGraph runs it from its beginning when it is resumed."""

    config: Mapping[str, Any]

    @classmethod
    def find(cls, runtime: Any) -> Self | None:
        """Find it; None outside of a graph."""
        config = {} if runtime is None else runtime.config.get("configurable", {})
        return cls(config) if _PAD in config else None

    @property
    def is_resumed(self) -> bool:
        """Whether there may be an answer."""
        pad = self.config[_PAD]
        return bool(pad.resume) or pad.get_null_resume(False) is not None

    @property
    def saver(self) -> Any:
        """What keeps the graph's checkpoints."""
        return self.config[_SAVER]

    @property
    def place(self) -> Any:
        """Where its checkpoint is."""
        own = {key: value for key, value in self.config.items() if not key.startswith("__")}
        ids = self.config["checkpoint_map"]
        wanted = ids[self.config["checkpoint_ns"].rpartition("|")[0]]
        # A task that another one calls is kept with that one, in the checkpoint of the graph around both.
        around = min((name for name, known in ids.items() if known == wanted), key=len)
        return {"configurable": {**own, "checkpoint_ns": around, "checkpoint_id": wanted}}

    @property
    def forgetting(self) -> tuple[Any, list[tuple[str, Any]], str]:
        """What a saver writes so that the answer is not kept for the next interrupt as well, as LangGraph keeps it."""
        own = {key: value for key, value in self.config.items() if not key.startswith("__")}
        outermost = {**own, "checkpoint_ns": "", "checkpoint_id": self.config["checkpoint_map"].get("")}
        return {"configurable": outermost}, [(_ANSWERS, None)], _OF_NO_TASK

    def read(self, saved: Any) -> "Resumption":
        """Read what a person was shown last, and has said about it, where its checkpoint tells."""
        writes = [] if saved is None else saved.pending_writes or []
        shown = [it[2][0].value for it in writes if it[0] == self.config[_TASK] and it[1] == "__interrupt__" and it[2]]
        # Others interrupt steps too, with whatever they like.
        if not shown or not isinstance(shown[-1], Mapping) or _PLACE not in shown[-1]:
            return Resumption(self)
        with _TAKING:
            answers = self._take()
        return Resumption(self, shown[-1], answers[shown[-1][_PLACE] :][:1])

    def _take(self) -> list[Any]:
        """Take the answers, that to the last interrupt included, as `interrupt` does."""
        pad = self.config[_PAD]
        latest = pad.get_null_resume(True)
        # Beside one by an interrupt's id it is that to an earlier one, which checkpoints keep.
        if latest is not None and not self.config.get(_BY_IDS):
            pad.resume.append(latest)
        self.config[_SEND]([(_ANSWERS, list(pad.resume))] if pad.resume else [])
        return list(pad.resume)

    def interrupt(self, value: Mapping[str, Any]) -> None:
        """Stop the graph, whatever the answers to earlier interrupts were."""
        with _TAKING:
            answers = self._take()
            try:
                while True:
                    interrupt({**value, _PLACE: len(answers)})
            except GraphInterrupt:
                # Which may have passed by only some of them.
                self.config[_SEND]([(_ANSWERS, answers)] if answers else [])
                raise


@dataclass
class Resumption:
    """What a graph was resumed with: the last interrupt's value, and the answer to it, if there is one."""

    step: GraphStep
    shown: Mapping[str, Any] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    is_used: bool = False
    why: str | None = None

    def decide(self, approval: CallApproval) -> Any:
        """Return what was said about this approval; None where it was said about another one, or cannot be read."""
        if not self.answers or not is_shown(approval, self.shown) or self.is_used:
            return None
        self.is_used = True
        try:
            return read_resumption(self.answers[0], approval)
        except ValueError as error:
            self.why = str(error)
            return None

    def go_on(self, stopped: ApprovalNeeded | RequestUnfit | Conflicting) -> None:
        """Interrupt the graph, or return where the call is to be sent again for how it stands."""
        if isinstance(stopped, ApprovalNeeded):
            refused = {} if self.why is None else {"refused": self.why}
            self.step.interrupt({**stopped.approvals[0].document, **refused})
        elif self.is_used and self.why is None:
            # LangGraph keeps what was said: without another question it would be refused for ever.
            self.why = stopped.detail
        else:
            raise stopped
