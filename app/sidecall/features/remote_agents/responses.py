"""Ask an agent at an endpoint of OpenAI's Responses."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from sidecall.features.remote_agents.connection import AgentConnection
from sidecall.features.remote_agents.turns import AgentAnswer, AgentQuestion, AgentTurn, read_usage
from sidecall.kernel.core.errors import ToolException

_ENDS = ("response.completed", "response.failed", "response.incomplete")
_RUNNING = ("queued", "in_progress")
_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


async def ask_responses(line: AgentConnection, url: str, turn: AgentTurn, model: str | None) -> AgentAnswer:
    """Send a text or a person's decision, and return the answer or a question.

    Raises:
        ToolException: The agent cannot answer.
    """
    body: dict[str, Any] = {"input": turn.text}
    if turn.resumed is not None:
        body = {"input": _write_decisions(turn), "previous_response_id": turn.resumed["context_id"]}
    elif turn.context_id is not None:
        body["previous_response_id"] = turn.context_id
    if model is not None:
        body["model"] = model
    line.has_begun = line.streams  # Otherwise it ends with its connection.
    found = await (_follow(line, url, body) if line.streams else line.post(url, body))
    pause = _PAUSE
    while isinstance(found, Mapping) and found.get("status") in _RUNNING:
        line.end_with(f"{url}/{found['id']}/cancel", {})
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
        found = await line.get(f"{url}/{found['id']}")
    return _read_response(found)


def _write_decisions(turn: AgentTurn) -> list[dict[str, Any]]:
    assert turn.resumed is not None
    decision: dict[str, Any] = {"type": "mcp_approval_response", "approve": turn.is_approved}
    if turn.reply:
        decision["reason"] = turn.reply
    return [{**decision, "approval_request_id": asked} for asked in turn.resumed["requests"]]


async def _follow(line: AgentConnection, url: str, body: Mapping[str, Any]) -> Any:
    found: Any = None
    async for event in line.stream(url, {**body, "stream": True}):
        if not isinstance(event, Mapping):
            continue
        kind = event.get("type")
        if kind == "error":
            raise ToolException(f"The agent has failed: {str(event.get('message'))[:500]}")
        if isinstance(event.get("response"), Mapping):
            found = event["response"]
            line.end_with(f"{url}/{found.get('id')}/cancel", {})
        elif event.get("object") == "response":  # It does not stream after all.
            found = event
        if kind == "response.output_text.delta":
            line.add(str(event.get("delta", "")))
        if kind in _ENDS:
            break
    line.finish()
    return found


def _read_response(body: Any) -> AgentAnswer:
    if not isinstance(body, Mapping) or not isinstance(body.get("output"), list):
        raise ToolException("The agent's answer is none of Responses.")
    items = [item for item in body["output"] if isinstance(item, Mapping)]
    context_id, usage = str(body.get("id", "")), read_usage(body.get("usage"))
    asked = [item for item in items if item.get("type") == "mcp_approval_request"]
    if asked:
        state = {"context_id": context_id, "requests": [str(item.get("id")) for item in asked]}
        shown = [{"tool": item.get("name"), "arguments": item.get("arguments")} for item in asked]
        text = "The agent wants to call " + ", ".join(str(item.get("name")) for item in asked) + "."
        return AgentAnswer("", context_id, usage=usage, question=AgentQuestion(text, state, shown))
    if body.get("status") in ("failed", "cancelled"):
        error = body.get("error")
        why = error.get("message") if isinstance(error, Mapping) else None
        raise ToolException(f"The agent has failed: {str(why or body['status'])[:500]}")
    text = "".join(_list_texts(items))
    if not text.strip():
        raise ToolException("The agent has answered without a text.")
    told = {"incomplete": body.get("incomplete_details")} if body.get("status") == "incomplete" else {}
    return AgentAnswer(text, context_id, usage=usage, told=told)


def _list_texts(items: list[Mapping[str, Any]]) -> Iterator[str]:
    for item in items:
        parts = item.get("content") if item.get("type") == "message" else None
        for part in parts if isinstance(parts, list) else ():
            yield str(part.get("text") or part.get("refusal") or "")
