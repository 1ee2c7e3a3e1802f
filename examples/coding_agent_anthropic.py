"""A coding agent on Anthropic's API: its bash, its editor and its memory run in Sidecall, in one workspace."""

import os
import sys
import time
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import httpx
from anthropic import Anthropic, AnthropicError

MODEL = os.environ.get("ANTHROPIC_MODEL") or "claude-sonnet-5-5"
SIDECALL_URL = os.environ.get("SIDECALL_URL") or "http://127.0.0.1:8000"
# All calls of one conversation work on the same files.
SIDECALL_HEADERS = {"Sidecall-Conversation": os.environ.get("SIDECALL_CONVERSATION") or uuid4().hex}
if key := os.environ.get("SIDECALL_API_KEY"):  # Where the server wants one.
    SIDECALL_HEADERS["Authorization"] = f"Bearer {key}"
MAX_TURNS = 30
MAX_TOKENS = 16_000
SYSTEM = "You work on the files in /workspace. Run the tests after each change, and stop when they pass."


def run(prompt: str) -> None:
    """Let the model call tools until it answers with text."""
    tools = ask_sidecall("GET", "/tools", params={"format": "anthropic"}).json()
    messages: list[Any] = [{"role": "user", "content": prompt}]
    with Anthropic() as anthropic:
        for _ in range(MAX_TURNS):
            message = anthropic.messages.create(
                model=MODEL, max_tokens=MAX_TOKENS, system=SYSTEM, messages=messages, tools=tools
            )
            content = [block.to_dict(mode="json") for block in message.content]
            calls = [block for block in content if block["type"] == "tool_use"]
            if not calls:
                print("".join(str(block.get("text", "")) for block in content))
                return
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": run_calls(calls)}]
    sys.exit(f"No answer after {MAX_TURNS} turns.")


def run_calls(calls: list[Any]) -> list[Any]:
    """Send the calls as the model wrote them; what comes back is the blocks that the model has to read next."""
    answers: dict[str, Any] = {}
    waiting = calls
    while waiting:
        answer = ask_sidecall("POST", "/tool_calls/batch", json=waiting)
        answers |= {block["tool_use_id"]: block for block in answer.json()}
        approvals = read_approvals(answer)
        for approval_id in approvals.values():
            decide(approval_id)
        # Sent again, a call that was decided about has its answer.
        waiting = [call for call in waiting if call["id"] in approvals]
    for call in calls:
        print(f"{call['name']} {call['input']} -> {answers[call['id']]['content']}", file=sys.stderr)
    return [answers[call["id"]] for call in calls]


def read_approvals(answer: httpx.Response) -> dict[str, str]:
    """Read which calls wait for a person, and the ids of their approvals."""
    header = answer.headers.get("X-Sidecall-Approvals", "")
    pairs = (pair.split("=") for pair in header.split(", ") if pair)
    return {unquote(call_id): approval_id for call_id, approval_id in pairs if call_id != "*"}


def decide(approval_id: str) -> None:
    """Ask the person at the terminal about a call, unless it was decided elsewhere."""
    approval = ask_sidecall("GET", f"/approvals/{approval_id}").json()
    if approval["status"] != "pending":
        time.sleep(1)  # It runs still.
        return
    call = approval["tool_call"]
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
        sys.exit(
            f"No Sidecall at {SIDECALL_URL} ({error}); start one with: sidecall serve --toolkit files --toolkit shell"
        )
    # 409: it has just been decided elsewhere.
    if response.is_error and response.status_code != httpx.codes.CONFLICT:
        sys.exit(f"Sidecall answered {response.status_code}: {response.text}")
    return response


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(f'usage: {sys.argv[0]} "Mend the failing test."')
    try:
        run(" ".join(sys.argv[1:]))
    except AnthropicError as error:
        sys.exit(f"The model cannot be asked: {error}")
