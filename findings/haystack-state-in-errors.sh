#!/usr/bin/env bash
# Haystack 3.4.1 puts all arguments of a tool into the message about its failure, those too that no model has written:
# a parameter that is filled from the agent's state (`inputs_from_state`), and is not in the schema, stands there.
# A good guess would be that the model reads the error, and the arguments that it wrote.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check haystack-ai==3.4.1
cat >"$work/show.py" <<'PYTHON'
import logging
from importlib.metadata import version

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

logging.disable(logging.CRITICAL)


def send(to: str, language: str) -> str:
    if to == "nobody":
        raise ValueError("There is nobody.")
    return "Sent."


SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
TOOL = Tool("send", "Send.", SCHEMA, send, inputs_from_state={"language": "language"})


@component
class Scripted:
    """Sends once to somebody, once to nobody, and is done then."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list | None = None):
        turn = sum(message.tool_call is not None for message in messages)
        if turn == 2:
            return {"replies": [ChatMessage.from_assistant("Done.")]}
        call = ToolCall("send", {"to": ("ada", "nobody")[turn]}, id=str(turn))
        return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}


agent = Agent(chat_generator=Scripted(), tools=[TOOL], state_schema={"language": {"type": str}})
run = agent.run([ChatMessage.from_user("Send.")], language="Finnish")
print("haystack-ai", version("haystack-ai"))
for message in run["messages"]:
    if message.tool_call_result is not None:
        print("the model reads:", message.tool_call_result.result)
PYTHON
HAYSTACK_TELEMETRY_ENABLED=false "$work/env/bin/python" "$work/show.py" 2>/dev/null | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
haystack-ai 3.4.1
the model reads: Sent.
the model reads: Failed to invoke Tool `send` with parameters {'to': 'nobody', 'language': 'Finnish'}. Error: There is nobody.
SEEN
