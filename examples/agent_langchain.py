"""An agent made by LangChain's create_agent, whose tools run in Sidecall."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelCallLimitMiddleware, ToolCallRequest, wrap_tool_call
from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
from openai import OpenAIError

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5")
SIDECALL_URL = os.environ.get("SIDECALL_URL", "http://127.0.0.1:8000")
LIMIT = ModelCallLimitMiddleware(run_limit=10, exit_behavior="error")


def call_sidecall(sidecall: httpx.AsyncClient) -> AgentMiddleware[Any, Any]:
    """Run each call in Sidecall, as the model made it; the answer keeps its status, artifact and id."""

    @wrap_tool_call
    async def in_sidecall(request: ToolCallRequest, _: Callable[[ToolCallRequest], Awaitable[Any]]) -> ToolMessage:
        response = await sidecall.post("/tool_calls", json=request.tool_call)
        return ToolMessage(**response.raise_for_status().json())

    return in_sidecall


async def run(prompt: str) -> None:
    """Let the agent work until it answers with text."""
    # Sidecall has a deadline for each tool, so there is none here.
    async with httpx.AsyncClient(base_url=SIDECALL_URL, timeout=None) as sidecall:
        definitions = (await sidecall.get("/tools")).raise_for_status().json()
        agent = create_agent(ChatOpenAI(model=MODEL), definitions, middleware=[call_sidecall(sidecall), LIMIT])
        conversation = await agent.ainvoke({"messages": [{"role": "user", "content": prompt}]})
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
