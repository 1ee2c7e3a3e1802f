"""An agent of LangChain's create_agent with tools that run in Sidecall."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NotRequired

import httpx
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware, ModelCallLimitMiddleware, ToolCallRequest, wrap_tool_call
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send, interrupt
from openai import OpenAIError
from pydantic_core import to_jsonable_python

MODEL = os.environ.get("OPENAI_MODEL") or "gpt-5"
SIDECALL_URL = os.environ.get("SIDECALL_URL") or "http://127.0.0.1:8000"
# Where the server wants a key.
SIDECALL_HEADERS = {"Authorization": f"Bearer {key}"} if (key := os.environ.get("SIDECALL_API_KEY")) else {}
LIMIT = ModelCallLimitMiddleware(run_limit=10, exit_behavior="error")
# What a tool may read as `context`; put here who your user is.
CONTEXT = {"user": os.environ.get("USER", "somebody")}


class State(AgentState[Any]):
    """State that tools read, and change with a Command; name your own keys here."""

    memory: NotRequired[dict[str, Any]]


def call_sidecall(sidecall: httpx.AsyncClient) -> AgentMiddleware[Any, Any]:
    """Run each call in Sidecall, as the model made it; the answer keeps its status, artifact and id."""
    approvals: dict[str, dict[str, Any]] = {}  # by the id of the call, since a resumed graph comes by here once more

    @wrap_tool_call(state_schema=State)
    async def in_sidecall(
        request: ToolCallRequest, _: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        if call["id"] not in approvals:
            body = {**call, "state": to_jsonable_python(request.state, fallback=str), "context": CONTEXT}
            response = (await sidecall.post("/tool_calls", json=body)).raise_for_status()
            if response.status_code != httpx.codes.ACCEPTED:
                return read_answer(response.json())
            approvals[str(call["id"])] = response.json()
        # A person has to approve the call: the graph stops here, and goes on with the decision.
        approval = approvals[str(call["id"])]
        decision = interrupt({"tool": call["name"], "args": call["args"], "preview": approval["preview"]})
        decided = await sidecall.post(f"/approvals/{approval['id']}", json=decision)
        return read_answer(decided.raise_for_status().json()["message"])

    return in_sidecall


def read_answer(answer: Mapping[str, Any]) -> ToolMessage | Command[Any]:
    """Make of an answer what LangGraph wants: a message, or the command that the tool has returned."""
    message, asked = ToolMessage(**answer), answer["response_metadata"]
    if "state_update" not in asked:
        return message
    said = [*asked["state_update"].get("messages", [])]
    said.insert(asked.get("answer_at", 0), message)
    update = {**asked["state_update"], "messages": said}
    goto = asked.get("goto") or []
    steps = [Send(**step) if isinstance(step, dict) else step for step in (goto if isinstance(goto, list) else [goto])]
    return Command(update=update, goto=steps, graph=asked.get("graph"))


def decide(question: Mapping[str, Any]) -> dict[str, str]:
    """Ask the person at the terminal about a call, and show what it would do, where its tool can say so."""
    if question["preview"] is not None:
        print(question["preview"], file=sys.stderr)
    try:
        said = input(f"Run {question['tool']}({question['args']})? [y/N] ")
    except EOFError:
        said = ""
    if said.strip().lower() == "y":
        return {"decision": "approve"}
    return {"decision": "reject", "reason": "The user does not want this."}


async def run(prompt: str) -> None:
    """Let the agent work until it answers with text."""
    # Sidecall has a deadline for each tool, so there is none here.
    async with httpx.AsyncClient(base_url=SIDECALL_URL, headers=SIDECALL_HEADERS, timeout=None) as sidecall:
        definitions = (await sidecall.get("/tools")).raise_for_status().json()
        agent = create_agent(
            ChatOpenAI(model=MODEL),
            definitions,
            middleware=[call_sidecall(sidecall), LIMIT],
            checkpointer=InMemorySaver(),
        )
        thread: Any = {"configurable": {"thread_id": "1"}}
        conversation = await agent.ainvoke({"messages": [{"role": "user", "content": prompt}]}, thread)
        while waiting := conversation.get("__interrupt__"):
            resume = {it.id: await asyncio.to_thread(decide, it.value) for it in waiting}
            conversation = await agent.ainvoke(Command(resume=resume), thread)
    for message in conversation["messages"]:
        if isinstance(message, ToolMessage):
            print(f"{message.name} {message.status}: {message.text}", file=sys.stderr)
    print(conversation["messages"][-1].text)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f'usage: {sys.argv[0]} "What is (9 * 9 - 2 * 2) / 7?"')
    try:
        asyncio.run(run(" ".join(sys.argv[1:])))
    except OpenAIError as error:
        sys.exit(f"The model cannot be asked: {error}")
    except ModelCallLimitExceededError as error:
        sys.exit(str(error))
    except httpx.HTTPStatusError as error:
        sys.exit(f"Sidecall answered {error.response.status_code}: {error.response.text}")
    except httpx.HTTPError as error:
        sys.exit(f"No Sidecall at {SIDECALL_URL} ({error}); start one with: sidecall serve")
