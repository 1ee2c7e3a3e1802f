"""A coding agent on OpenAI's Responses API: its shell and its patches run in Sidecall, in one workspace."""

import os
import sys
import time
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import httpx
from openai import OpenAI, OpenAIError

MODEL = os.environ.get("OPENAI_MODEL") or "gpt-5"
SIDECALL_URL = os.environ.get("SIDECALL_URL") or "http://127.0.0.1:8000"
# All calls of one conversation work on the same files.
SIDECALL_HEADERS = {"Sidecall-Conversation": os.environ.get("SIDECALL_CONVERSATION") or uuid4().hex}
if key := os.environ.get("SIDECALL_API_KEY"):  # Where the server wants one.
    SIDECALL_HEADERS["Authorization"] = f"Bearer {key}"
MAX_TURNS = 30
INSTRUCTIONS = "You work on the files in /workspace. Run the tests after each change, and stop when they pass."
# What is no call, such as a message or a piece of reasoning, is for the model alone.
CALLS = ("function_call", "shell_call", "apply_patch_call", "custom_tool_call")


def run(prompt: str) -> None:
    """Let the model call tools until it answers with text."""
    tools = ask_sidecall("GET", "/tools", params={"format": "openai-responses"}).json()
    items: list[Any] = [{"role": "user", "content": prompt}]
    with OpenAI() as openai:
        for _ in range(MAX_TURNS):
            response = openai.responses.create(model=MODEL, instructions=INSTRUCTIONS, input=items, tools=tools)
            output = [item.to_dict(mode="json") for item in response.output]
            calls = [item for item in output if item["type"] in CALLS]
            if not calls:
                print(response.output_text)
                return
            items += [*output, *run_calls(calls)]
    sys.exit(f"No answer after {MAX_TURNS} turns.")


def run_calls(calls: list[Any]) -> list[Any]:
    """Send the calls as the model wrote them; what comes back is the items that the model has to read next."""
    answers: dict[str, Any] = {}
    waiting = calls
    while waiting:
        answer = ask_sidecall("POST", "/tool_calls/batch", json=waiting)
        answers |= {item["call_id"]: item for item in answer.json()}
        approvals = read_approvals(answer)
        for approval_id in approvals.values():
            decide(approval_id)
        # Sent again, a call that was decided about has its answer.
        waiting = [call for call in waiting if call["call_id"] in approvals]
    for call in calls:
        asked = call.get("action") or call.get("operation") or call.get("arguments")
        print(f"{call['type']} {asked} -> {answers[call['call_id']]['output']}", file=sys.stderr)
    return [answers[call["call_id"]] for call in calls]


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
    except OpenAIError as error:
        sys.exit(f"The model cannot be asked: {error}")
