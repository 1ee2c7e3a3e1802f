"""Interrupt a graph for an approval, and match the resumed answer to that approval."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeAlias

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, Send, interrupt

from sidecall.client.answers import CallApproval, PersonVerdict, ToolAnswer
from sidecall.client.durable_calls import read_verdict
from sidecall.client.failures import ApprovalNeeded, Conflicting, NotAllowed, RequestUnfit
from sidecall.client.runs import is_shown

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
    """The graph step in which a call runs; LangGraph restarts it when it is resumed."""

    config: Mapping[str, Any]

    @classmethod
    def find(cls, runtime: Any) -> Self | None:
        """Return the current step; None outside of a graph."""
        config = {} if runtime is None else runtime.config.get("configurable", {})
        return cls(config) if _PAD in config else None

    @property
    def is_resumed(self) -> bool:
        """Whether the graph may have been resumed with an answer."""
        pad = self.config[_PAD]
        return bool(pad.resume) or pad.get_null_resume(False) is not None

    @property
    def saver(self) -> Any:
        """The graph's checkpointer."""
        return self.config[_SAVER]

    @property
    def place(self) -> Any:
        """The config of its checkpoint."""
        own = {key: value for key, value in self.config.items() if not key.startswith("__")}
        ids = self.config["checkpoint_map"]
        wanted = ids[self.config["checkpoint_ns"].rpartition("|")[0]]
        # A task that another one calls is kept with that one, in the checkpoint of the graph around both.
        around = min((name for name, known in ids.items() if known == wanted), key=len)
        return {"configurable": {**own, "checkpoint_ns": around, "checkpoint_id": wanted}}

    @property
    def forgetting(self) -> tuple[Any, list[tuple[str, Any]], str]:
        """The writes that keep LangGraph from using the answer for the next interrupt as well."""
        own = {key: value for key, value in self.config.items() if not key.startswith("__")}
        outermost = {**own, "checkpoint_ns": "", "checkpoint_id": self.config["checkpoint_map"].get("")}
        return {"configurable": outermost}, [(_ANSWERS, None)], _OF_NO_TASK

    def read(self, saved: Any) -> "Resumption":
        """Read what a person was shown last, and their answer, from the checkpoint."""
        writes = [] if saved is None else saved.pending_writes or []
        shown = [it[2][0].value for it in writes if it[0] == self.config[_TASK] and it[1] == "__interrupt__" and it[2]]
        # Other code interrupts steps too, with values of any kind.
        if not shown or not isinstance(shown[-1], Mapping) or _PLACE not in shown[-1]:
            return Resumption(self)
        with _TAKING:
            answers = self._take()
        return Resumption(self, shown[-1], answers[shown[-1][_PLACE] :][:1])

    def _take(self) -> list[Any]:
        """Take the answers, including that to the last interrupt, as `interrupt` does."""
        pad = self.config[_PAD]
        latest = pad.get_null_resume(True)
        # If there is an answer by interrupt id too, this is one to an earlier interrupt, kept in the checkpoint.
        if latest is not None and not self.config.get(_BY_IDS):
            pad.resume.append(latest)
        self.config[_SEND]([(_ANSWERS, list(pad.resume))] if pad.resume else [])
        return list(pad.resume)

    def interrupt(self, value: Mapping[str, Any]) -> None:
        """Stop the graph, even if earlier interrupts were answered."""
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
    """The value of the last interrupt, and the answer to it, if there is one."""

    step: GraphStep
    shown: Mapping[str, Any] = field(default_factory=dict)
    answers: list[Any] = field(default_factory=list)
    is_used: bool = False
    why: str | None = None

    def decide(self, approval: CallApproval) -> Any:
        """Return the decision on this approval; None if the answer was for another one, or cannot be read."""
        if not self.answers or not is_shown(approval, self.shown) or self.is_used:
            return None
        self.is_used = True
        try:
            return read_resumption(self.answers[0], approval)
        except ValueError as error:
            self.why = str(error)
            return None

    def go_on(self, stopped: ApprovalNeeded | RequestUnfit | Conflicting | NotAllowed) -> None:
        """Interrupt the graph, or return for which state the call must be sent again."""
        if isinstance(stopped, ApprovalNeeded):
            refused = {} if self.why is None else {"refused": self.why}
            self.step.interrupt({**stopped.approvals[0].document, **refused})
        elif self.is_used and self.why is None:
            # LangGraph keeps what was said: without another question it would be refused for ever.
            self.why = stopped.detail
        else:
            raise stopped


def read_resumption(said: Any, approval: CallApproval) -> PersonVerdict | None:
    """Read the value with which a graph was resumed: our forms, or those of LangChain's HumanInTheLoopMiddleware.

    Raises:
        ValueError: It is none of them, or asks for what a server cannot do.
    """
    if isinstance(said, Mapping) and isinstance(decisions := said.get("decisions"), list):
        if len(decisions) != 1:
            raise ValueError(f"This is about one call, and there are {len(decisions)} decisions; give one.")
        said = decisions[0]
    if isinstance(said, Mapping) and "type" in said:
        return _read_human_decision(said, approval)
    if said is None or isinstance(said, bool | PersonVerdict) or _is_verdict(said):
        return read_verdict(said)
    raise ValueError(
        'Resume with True, False, {"decision": "approve", "args": ...}, {"decision": "reject", "reason": ...}, or as '
        f"HumanInTheLoopMiddleware is resumed, not with {said!r:.100}."
    )


def _is_verdict(said: Any) -> bool:
    members = {field.name for field in fields(PersonVerdict)}
    return isinstance(said, Mapping) and "decision" in said and members.issuperset(said)


def _read_human_decision(said: Mapping[str, Any], approval: CallApproval) -> PersonVerdict:
    match said:
        case {"type": "approve"}:
            return PersonVerdict("approve")
        case {"type": "edit", "edited_action": {"name": str(name), "args": dict(args)}}:
            if name != approval.tool_call["name"]:
                raise ValueError(f"A person can change the arguments of {approval.tool_call['name']}, not its name.")
            return PersonVerdict("approve", args)
        case {"type": "reject"}:
            return PersonVerdict("reject", reason=said.get("message"))
        case {"type": "respond"}:
            raise ValueError(
                "A person cannot answer in a tool's place here: reject the call, with the answer as message."
            )
    raise ValueError(f"This is no decision of HumanInTheLoopMiddleware: {said!r:.100}")


GraphOutput: TypeAlias = ToolMessage | Command[Any] | list[Command[Any] | ToolMessage]


def read_graph_output(answer: ToolAnswer) -> GraphOutput:
    """Return the message of an answer, or the Command that the tool returned, with the message in it."""
    message = ToolMessage(**answer.message)
    asked = answer.response_metadata
    if "commands" in asked:
        commands = asked["commands"]
        bringing = next((it for it in commands if "answer_at" in it), commands[0])
        return [_make_command(it, message if it is bringing else None) for it in commands]
    return _make_command(asked, message) if "state_update" in asked else message


def _make_command(asked: Mapping[str, Any], message: ToolMessage | None) -> Command[Any]:
    update = asked.get("state_update") or {}
    goto = asked.get("goto") or []
    steps = [Send(**step) if isinstance(step, dict) else step for step in (goto if isinstance(goto, list) else [goto])]
    said = [*update.get("messages", [])]
    if message is not None:
        # Other messages may be those before it, or one that removes all before it.
        said.insert(asked.get("answer_at", 0), message)
    return Command(
        update={**update, **({"messages": said} if said else {})},
        goto=steps,
        graph=asked.get("graph"),
        resume=asked.get("resume"),
    )
