"""Decisions with which a graph is resumed: our forms, and those of LangChain's middleware."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sidecall.client.answers import CallApproval, PersonVerdict
from sidecall.client.remembered import read_verdict


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
