"""An agent on the OpenAI SDK: it streams, and runs the tools of a turn together through Sidecall."""

import os
import sys
from typing import Any

import httpx
from openai import OpenAI, OpenAIError, omit

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5")
SIDECALL_URL = os.environ.get("SIDECALL_URL", "http://127.0.0.1:8000")
MAX_TURNS = 10


def run(prompt: str) -> None:
    """Let the model call tools until it answers with text."""
    tools = ask_sidecall("GET", "/tools")
    messages: list[Any] = [{"role": "user", "content": prompt}]
    with OpenAI() as openai:
        for _ in range(MAX_TURNS):
            message = stream_turn(openai, messages, tools)
            messages.append(message)
            if "tool_calls" not in message:
                return
            messages += run_tools(message["tool_calls"])
    sys.exit(f"No answer after {MAX_TURNS} turns.")


def stream_turn(openai: OpenAI, messages: list[Any], tools: list[Any]) -> dict[str, Any]:
    """Print the text of one turn as it comes, and return the whole message."""
    text = ""
    calls: dict[int, dict[str, Any]] = {}
    # OpenAI refuses an empty list of tools.
    stream = openai.chat.completions.create(model=MODEL, messages=messages, tools=tools or omit, stream=True)
    for chunk in stream:
        for choice in chunk.choices:
            text += choice.delta.content or ""
            print(choice.delta.content or "", end="", flush=True)
            for delta in choice.delta.tool_calls or []:
                add(delta, calls)
    if text:
        print()
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return {**message, "tool_calls": [calls[index] for index in sorted(calls)]} if calls else message


def add(delta: Any, calls: dict[int, dict[str, Any]]) -> None:
    """Put a piece of a call in its place: id and name come once, the arguments bit by bit."""
    call = calls.setdefault(delta.index, {"id": None, "type": "function", "function": {"name": None, "arguments": ""}})
    call["id"] = delta.id or call["id"]
    if delta.function:
        call["function"]["name"] = delta.function.name or call["function"]["name"]
        call["function"]["arguments"] += delta.function.arguments or ""


def run_tools(calls: list[dict[str, Any]]) -> list[Any]:
    """Send the calls as the model wrote them; what comes back is the messages that the model has to read next."""
    messages = ask_sidecall("POST", "/tool_calls/batch", json=calls)
    for call, message in zip(calls, messages, strict=True):
        print(f"{call['function']['name']}({call['function']['arguments']}) -> {message['content']}", file=sys.stderr)
    return messages


def ask_sidecall(method: str, path: str, **options: Any) -> list[Any]:
    """Give what Sidecall answers, or stop: a 4xx is for this program to mend, not for the model."""
    try:
        # Sidecall has a deadline for each tool, so there is none here.
        response = httpx.request(method, SIDECALL_URL + path, timeout=None, **options)
    except httpx.HTTPError as error:
        sys.exit(f"No Sidecall at {SIDECALL_URL} ({error}); start one with: sidecall serve")
    if response.is_error:
        sys.exit(f"Sidecall answered {response.status_code}: {response.text}")
    answer: list[Any] = response.json()
    return answer


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f'usage: {sys.argv[0]} "What is (9 * 9 - 2 * 2) / 7?"')
    try:
        run(" ".join(sys.argv[1:]))
    except OpenAIError as error:
        sys.exit(f"The model cannot be asked: {error}")
