"""What a Pydantic AI run has shown of a deferred call, kept in its messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelResponse, ToolCallPart

from sidecall.client.questions import SEEN

# In the metadata of the model's response, which no model reads and which is kept with the messages.
_SHOWN = "sidecall/shown"


@dataclass(frozen=True)
class Shown:
    """The arguments of a call as sent, its approval as shown, and its conversation.

    `approval` is None if none was pending.
    """

    args: dict[str, Any]
    approval: Mapping[str, Any] | None
    conversation: str | None


def note_shown(ctx: RunContext[Any], shown: Shown) -> None:
    """Store what is shown of a call, replacing the previous state."""
    response, _ = _find_call(ctx)
    if response is not None:
        seen = None if shown.approval is None else {name: shown.approval.get(name) for name in SEEN}
        said = {"args": shown.args, "approval": seen, "conversation": shown.conversation}
        metadata = response.metadata or {}
        noted = {**metadata.get(_SHOWN, {}), ctx.tool_call_id: said}
        response.metadata = {**metadata, _SHOWN: noted}


def recall_shown(ctx: RunContext[Any], args: dict[str, Any]) -> Shown:
    """Return what was shown, from the messages, or the metadata of the results.

    Without either, the model's arguments were sent in the conversation of this run, and no approval was pending.
    """
    response, call = _find_call(ctx)
    metadata = {} if response is None else response.metadata or {}
    noted = metadata.get(_SHOWN, {}).get(ctx.tool_call_id) or {}
    brought = ctx.tool_call_metadata if isinstance(ctx.tool_call_metadata, Mapping) else {}
    sent = args if call is None else call.args_as_dict()
    conversation = noted.get("conversation") or brought.get("conversation") or ctx.conversation_id
    return Shown(noted.get("args", sent), noted.get("approval") or brought.get("approval"), conversation)


def _find_call(ctx: RunContext[Any]) -> tuple[ModelResponse | None, ToolCallPart | None]:
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and part.tool_call_id == ctx.tool_call_id:
                    return message, part
    return None, None
