"""An agent of the OpenAI Agents SDK with tools that run in Sidecall."""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

import httpx
from agents import (
    Agent,
    FunctionTool,
    MaxTurnsExceeded,
    Runner,
    UserError,
    set_default_openai_api,
    set_tracing_disabled,
)
from agents.tool_context import ToolContext
from openai import OpenAIError

MODEL = os.environ.get("OPENAI_MODEL") or "gpt-5"
SIDECALL_URL = os.environ.get("SIDECALL_URL") or "http://127.0.0.1:8000"
# Where the server wants a key.
SIDECALL_HEADERS = {"Authorization": f"Bearer {key}"} if (key := os.environ.get("SIDECALL_API_KEY")) else {}
# What a tool may read as `context`; put here who your user is.
CONTEXT = {"user": os.environ.get("USER", "somebody")}


async def list_tools(sidecall: httpx.AsyncClient) -> list[FunctionTool]:
    """Make a function tool of each tool of the server; to invoke it is to post its call."""
    definitions = (await sidecall.get("/tools", params={"format": "openai"})).raise_for_status().json()
    return [make_tool(sidecall, it["function"]) for it in definitions]


def make_tool(sidecall: httpx.AsyncClient, function: Mapping[str, Any]) -> FunctionTool:
    """Make a function tool whose calls run in Sidecall, as the model wrote them."""

    async def call_sidecall(context: ToolContext[Any], arguments: str) -> Any:
        call = {"type": "function_call", "call_id": context.tool_call_id, "name": function["name"]}
        body = {**call, "arguments": arguments, "context": CONTEXT}
        response = (await sidecall.post("/tool_calls", json=body)).raise_for_status()
        if response.status_code != httpx.codes.ACCEPTED:
            return read_output(response.json())
        # A person has to approve the call, or what it turns out to do; each decision is about the newest approval.
        approval = response.json()
        decision = await asyncio.to_thread(decide, approval["tool_call"])
        place = f"/approvals/{approval['id']}?format=openai-responses"
        decided = (await sidecall.post(place, json=decision)).raise_for_status()
        return read_output(decided.json()["message"])

    return FunctionTool(
        name=function["name"],
        description=function["description"],
        params_json_schema=function["parameters"],
        on_invoke_tool=call_sidecall,
        strict_json_schema=function.get("strict", False),
    )


def read_output(answer: Mapping[str, Any]) -> Any:
    """Make of an answer what a tool of the SDK returns: a text, or its dicts of texts, images and files."""
    output = answer["output"]
    if isinstance(output, str):
        return output
    return [{**part, "type": part["type"].removeprefix("input_")} for part in output]


def decide(call: Mapping[str, Any]) -> dict[str, str]:
    """Ask the person at the terminal about a call."""
    try:
        said = input(f"Run {call['name']}({call['args']})? [y/N] ")
    except EOFError:
        said = ""
    if said.strip().lower() == "y":
        return {"decision": "approve"}
    return {"decision": "reject", "reason": "The user does not want this."}


async def run(prompt: str) -> None:
    """Let the agent work until it answers with text."""
    set_tracing_disabled(True)
    set_default_openai_api("chat_completions")  # Which every endpoint has; leave it out for OpenAI's Responses API.
    # Sidecall has a deadline for each tool, so there is none here.
    async with httpx.AsyncClient(base_url=SIDECALL_URL, headers=SIDECALL_HEADERS, timeout=None) as sidecall:
        agent = Agent(name="assistant", model=MODEL, tools=[*await list_tools(sidecall)])
        result = await Runner.run(agent, prompt, max_turns=10)
    print(result.final_output)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f'usage: {sys.argv[0]} "What is (9 * 9 - 2 * 2) / 7?"')
    try:
        asyncio.run(run(" ".join(sys.argv[1:])))
    except OpenAIError as error:
        sys.exit(f"The model cannot be asked: {error}")
    except (MaxTurnsExceeded, UserError) as error:
        sys.exit(str(error))
    except httpx.HTTPError as error:
        sys.exit(f"No Sidecall at {SIDECALL_URL} ({error}); start one with: sidecall serve")
