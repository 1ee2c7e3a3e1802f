#!/usr/bin/env bash
# Microsoft's Agent Framework 1.23.0 asks for an approval with or without a session, but takes the answer only in the
# same session: given with the messages of the conversation, as the model's API would have it, it is left out with a
# warning in the log. The approved tool does not run, and the run ends as if it had.
# A good guess would be that it runs, or that the run is an error.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check agent-framework-core==1.23.0
cat >"$work/show.py" <<'PYTHON'
import asyncio
from importlib.metadata import version

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

ran = []


@tool(approval_mode="always_require")
def pay(amount: int) -> str:
    """Pay."""
    ran.append(amount)
    return "paid"


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Asks for the tool once, and is done then."""

    asked = False

    async def _inner_get_response(self, *, messages, stream, options, **_):
        call = Content.from_function_call("call_1", "pay", arguments='{"amount": 5}')
        contents, self.asked = [Content.from_text("Done.") if self.asked else call], True
        return ChatResponse(messages=[Message("assistant", contents)])


async def work(session):
    ran.clear()
    agent, question = Agent(Scripted(), tools=[pay]), Message("user", ["Pay 5."])
    stopped = await agent.run(question, session=session)
    answer = Message("user", [stopped.user_input_requests[0].to_function_approval_response(True)])
    before = [] if session else [question, *stopped.messages]
    run = await agent.run([*before, answer], session=session)
    return f"ran {ran}, {len(run.user_input_requests)} requests, {run.text}"


print("agent-framework-core", version("agent-framework-core"))
print("in a session:", asyncio.run(work(AgentSession())))
print("with the messages:", asyncio.run(work(None)))
PYTHON
"$work/env/bin/python" "$work/show.py" 2>/dev/null | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
agent-framework-core 1.23.0
in a session: ran [5], 0 requests, Done.
with the messages: ran [], 0 requests, Done.
SEEN
