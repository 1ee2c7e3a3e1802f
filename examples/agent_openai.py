"""An agent on the OpenAI SDK: it streams, runs the tools of a turn together in Sidecall, and asks who must approve."""

import os
import sys
import time
from typing import Any
from urllib.parse import unquote

import httpx
from openai import OpenAI, OpenAIError, omit

MODEL = os.environ.get("OPENAI_MODEL") or "gpt-5"
SIDECALL_URL = os.environ.get("SIDECALL_URL") or "http://127.0.0.1:8000"
# Where the server wants a key.
SIDECALL_HEADERS = {"Authorization": f"Bearer {key}"} if (key := os.environ.get("SIDECALL_API_KEY")) else {}
MAX_TURNS = 10


def run(prompt: str) -> None:
    """Let the model call tools until it answers with text."""
    tools = ask_sidecall("GET", "/tools").json()
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
    messages: dict[str, Any] = {}
    waiting = calls
    while waiting:
        answer = ask_sidecall("POST", "/tool_calls/batch", json=waiting)
        messages |= {message["tool_call_id"]: message for message in answer.json()}
        approvals = read_approvals(answer)
        for approval_id in approvals.values():
            decide(approval_id)
        # Sent again, a call that was decided about has its answer.
        waiting = [call for call in waiting if call["id"] in approvals]
    for call in calls:
        said = messages[call["id"]]["content"]
        print(f"{call['function']['name']}({call['function']['arguments']}) -> {said}", file=sys.stderr)
    return [messages[call["id"]] for call in calls]


def read_approvals(answer: httpx.Response) -> dict[str, str]:
    """Read which calls wait for a person, and the ids of their approvals."""
    header = answer.headers.get("X-Sidecall-Approvals", "")
    pairs = (pair.split("=") for pair in header.split(", ") if pair)
    # More than some thirty are only counted there, under a star; of these the model reads that they wait.
    return {unquote(call_id): approval_id for call_id, approval_id in pairs if call_id != "*"}


def decide(approval_id: str) -> None:
    """Ask the person at the terminal about a call, unless it was decided elsewhere."""
    approval = ask_sidecall("GET", f"/approvals/{approval_id}").json()
    if approval["status"] != "pending":
        time.sleep(1)  # It runs still.
        return
    call = approval["tool_call"]
    seen = approval["preview"] or approval["preview_error"]
    if seen:
        print(seen, file=sys.stderr)
    try:
        said = input(f"Run {call['name']}({call['args']})? [y/N] ")
    except EOFError:
        said = ""
    agrees = said.strip().lower() == "y"
    decision = {"decision": "approve"} if agrees else {"decision": "reject", "reason": "The user does not want this."}
    ask_sidecall("POST", f"/approvals/{approval_id}", json=decision)


def ask_sidecall(method: str, path: str, **options: Any) -> httpx.Response:
    """Return what Sidecall answers, or stop: a 4xx is for this program to mend, not for the model."""
    try:
        # Sidecall has a deadline for each tool, so there is none here.
        response = httpx.request(method, SIDECALL_URL + path, timeout=None, headers=SIDECALL_HEADERS, **options)
    except httpx.HTTPError as error:
        sys.exit(f"No Sidecall at {SIDECALL_URL} ({error}); start one with: sidecall serve")
    # 409: it has just been decided elsewhere.
    if response.is_error and response.status_code != httpx.codes.CONFLICT:
        sys.exit(f"Sidecall answered {response.status_code}: {response.text}")
    return response


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f'usage: {sys.argv[0]} "What is (9 * 9 - 2 * 2) / 7?"')
    try:
        run(" ".join(sys.argv[1:]))
    except OpenAIError as error:
        sys.exit(f"The model cannot be asked: {error}")
