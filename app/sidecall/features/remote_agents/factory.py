"""Offer a remote agent as a tool."""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from sidecall.authoring.structured_tool import StructuredTool
from sidecall.features.remote_agents.agent import RemoteAgent
from sidecall.features.remote_agents.chat import AgentAnswer, AgentTurn
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.injection import Secret
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

DEPTH = "Sidecall-Depth"
MAX_DEPTH = 3
_TOO_DEEP = f"This call came through {MAX_DEPTH} agents already, and does not go on to another."

_Input = Annotated[str, Field(min_length=1, description="What to ask the agent, with all that it has to know.")]
_ContextId = Annotated[
    str | None, Field(max_length=512, description="Of an earlier answer, to go on with that conversation.")
]


def remote_agent(  # noqa: PLR0913  what an author may choose
    name: str,
    url: str,
    dialect: Literal["auto", "chat", "responses", "a2a"] = "auto",
    *,
    description: str,
    auth: str | None = None,
    model: str | None = None,
    timeout: float = 600.0,
    stream: bool = True,
    **options: Any,
) -> StructuredTool:
    """Offer a remote agent as a tool that takes a text; assign the result in your module.

    The agent's progress becomes the call's. When it asks a person, the call waits for an approval, and the agent gets
    the decision.

    Args:
        name: The tool's name.
        url: The agent's address: the host of its A2A card, or an endpoint of Chat Completions or Responses.
        dialect: Its protocol; `auto` detects it by the address and the card.
        description: The tool's description.
        auth: The name of the secret that is sent as a bearer token.
        model: The model to use at an endpoint of Chat Completions or Responses.
        timeout: Seconds that a call may take; the agent's task is cancelled then.
        stream: Whether to ask for answers as events.
        options: The other options of a tool, such as `requires_approval`.

    Raises:
        InvalidToolOption: The address or the dialect is invalid.
    """
    agent = RemoteAgent(url, dialect, model, timeout, stream)
    return StructuredTool.from_function(
        _make_function(agent, auth),
        name=name,
        description=description,
        response_format="content_and_artifact",
        timeout=timeout,
        **options,
    )


def _make_function(agent: RemoteAgent, auth: str | None) -> Callable[..., Any]:
    async def ask(context: ToolContext, input: str, context_id: str | None, token: str | None) -> tuple[str, Any]:
        headers = _write_headers(context, token)
        resumed = context.resumed if isinstance(context.resumed, Mapping) else None
        turn = AgentTurn(input, context_id, resumed, context.rejection is None, context.reply)
        return await _read(await agent.ask(turn, headers, lambda text: context.report_progress(0, None, text)), context)

    if auth is None:

        async def ask_openly(
            input: _Input, context_id: _ContextId = None, *, context: ToolContext
        ) -> tuple[str, dict[str, Any]]:
            return await ask(context, input, context_id, None)

        return ask_openly

    async def ask_with_token(
        input: _Input, context_id: _ContextId = None, *, context: ToolContext, token: Annotated[str, Secret(auth)]
    ) -> tuple[str, dict[str, Any]]:
        return await ask(context, input, context_id, token)

    return ask_with_token


def _write_headers(context: ToolContext, token: str | None) -> dict[str, str]:
    """Return the headers of a call: the caller, the depth of nested agents, and the trace.

    Raises:
        ToolException: Agents are nested too deeply.
    """
    # All of them, so that a second header cannot hide the depth.
    said = [value for name, value in context.headers.items() if name.lower() == DEPTH.lower() and value]
    depth = max((_read_depth(text) for text in said), default=0)
    if depth >= MAX_DEPTH:
        raise ToolException(_TOO_DEEP)
    proof = {} if token is None else {"Authorization": f"Bearer {token}"}
    return {DEPTH: str(depth + 1), **context.trace(), **proof}


def _read_depth(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else MAX_DEPTH


async def _read(answer: AgentAnswer, context: ToolContext) -> tuple[str, dict[str, Any]]:
    """Return the content and the artifact.

    Raises:
        ApprovalRequired: The agent has asked a person something.
    """
    if answer.usage is not None:
        context.usage.add(answer.usage)
    asked = answer.question
    if asked is not None:
        raise ApprovalRequired(asked.text, payload=asked.shown, state=dict(asked.state))
    found: dict[str, Any] = {"context_id": answer.context_id, **answer.told}
    if answer.task_id is not None:
        found["task_id"] = answer.task_id
    if answer.parts:
        found["parts"] = [await _keep(part, context) for part in answer.parts]
    return answer.text, found


async def _keep(part: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
    """Return a part for the artifact; files are stored as contents."""
    raw = part.get("raw")
    if not isinstance(raw, str) or context.contents is None:
        return dict(part)
    try:
        body = base64.b64decode(raw, validate=True)
    except binascii.Error:
        return dict(part)
    kind = str(part.get("mediaType") or "application/octet-stream")
    try:
        content_id = await context.save_content(body, kind)
    except ValueError:
        content_id = await context.save_content(body)
    named = {key: value for key, value in part.items() if key != "raw"}
    return {**named, "content_id": content_id, "bytes": len(body)}
