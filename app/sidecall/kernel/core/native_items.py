"""The parts of a provider's own call item that its answer must repeat."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.native_results import OUTPUTS

# Where a message has what its answer repeats of the call's item.
ITEM = "item"
# Of an item: checks that a person has to acknowledge, and whether one has.
CHECKS = "pending_safety_checks"
DECISION = "safety_decision"
ACKNOWLEDGED = "acknowledged"
# Of an item: that its model was cut off writing it.
CUT_OFF = "is_cut_off"
_STREAMS = ("stdout", "stderr")


def settle_item(message: ToolMessage, call: ToolCall, *, approved: bool = False) -> None:
    """Set on a message the item parts of this call that its answer repeats, and clear those of others."""
    said = message.additional_kwargs
    kept = {key: value for key, value in said.items() if key not in (ITEM, OUTPUTS)}
    if call.item is not None:
        known = said.get(ITEM)  # Where the same call was answered before.
        is_acknowledged = approved or (isinstance(known, dict) and known.get(ACKNOWLEDGED) is True)
        wants = is_acknowledged and wants_acknowledgement(call)
        kept[ITEM] = {**call.item, ACKNOWLEDGED: True} if wants else call.item
        outputs = said.get(OUTPUTS)
        if are_outputs(outputs):
            kept[OUTPUTS] = limit_outputs(outputs, call.item.get("max_output_length"))
    message.additional_kwargs = kept


def wants_acknowledgement(call: ToolCall) -> bool:
    """Return whether a provider asks for a person's acknowledgement of the action."""
    item = call.item or {}
    return bool(item.get(CHECKS)) or (item.get(DECISION) or {}).get("decision") == "require_confirmation"


def are_outputs(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Return whether a value is a list of command outputs; a tool's own message may hold anything there."""
    return isinstance(value, list) and all(
        isinstance(item, dict) and all(isinstance(item.get(name), str) for name in _STREAMS) for item in value
    )


def limit_outputs(outputs: Sequence[Mapping[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """Cut the outputs of commands to this many characters in total."""
    limited = [dict(output) for output in outputs]
    if most is None:
        return limited
    room = most
    for output in limited:
        for name in _STREAMS:
            output[name] = _cut(output[name], room)
            room -= len(output[name])
    return limited


def bound_outputs(message: ToolMessage, most: int) -> None:
    """Cut the outputs of commands to this many bytes in total."""
    outputs = message.additional_kwargs.get(OUTPUTS)
    if not are_outputs(outputs):
        return
    texts = [output[name] for output in outputs for name in _STREAMS]
    size = sum(len(text.encode(errors="replace")) for text in texts)
    if size > most:
        limited = limit_outputs(outputs, sum(map(len, texts)) * most // size)
        message.additional_kwargs = {**message.additional_kwargs, OUTPUTS: limited}


def _cut(text: str, room: int) -> str:
    """Keep the head and tail of a text, with a note between them if there is room."""
    if len(text) <= room:
        return text
    note = f"\n[… {len(text) - room} characters left out …]\n"
    if len(note) * 2 > room:
        return text[: room - 1] + "…" if room else ""
    room -= len(note)
    return text[: (room + 1) // 2] + note + text[len(text) - room // 2 :]
