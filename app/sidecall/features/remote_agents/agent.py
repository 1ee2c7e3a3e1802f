"""A remote agent: its address, its protocol, and turns with it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from sidecall.features.remote_agents.a2a import CARD, VERSION_HEADERS, A2aInterface, ask_a2a
from sidecall.features.remote_agents.chat import (
    AgentAnswer,
    AgentDialect,
    AgentQuestion,
    AgentTurn,
    ask_chat,
    read_usage,
)
from sidecall.features.remote_agents.connection import HANGING_UP, AgentConnection
from sidecall.kernel.core.errors import InvalidToolOption, ToolException
from sidecall.outgoing.bodies import AnswerBounds
from sidecall.outgoing.clients import open_client
from sidecall.outgoing.rules import OutgoingRules, name_hosts
from sidecall.outgoing.settings import OutgoingSettings

_MOST_BYTES = 16 * 1024 * 1024

_CONNECTING = 10.0

_PATHS: Mapping[str, str] = {"chat": "/chat/completions", "responses": "/responses"}

_UNKNOWN = "There is no agent's card at {}, and the address is none of Chat Completions or Responses. Say the dialect."

LATE = "The agent did not answer in time."


@dataclass(slots=True)
class RemoteAgent:
    """A remote agent; its protocol is detected once if it is not configured.

    Only its own host is reached, public or not, since models cannot choose it.
    """

    url: str
    dialect: Literal["auto", "chat", "responses", "a2a"] = "auto"
    model: str | None = None
    timeout: float = 600.0
    streams: bool = True
    _found: A2aInterface | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.dialect not in ("auto", "chat", "responses", "a2a"):
            raise InvalidToolOption('a remote agent\'s dialect is "auto", "chat", "responses" or "a2a".')
        try:
            url = httpx.URL(self.url)
            host = url.host
        except (httpx.InvalidURL, UnicodeError):
            url, host = httpx.URL(""), ""
        if url.scheme not in ("http", "https") or not host or url.userinfo:
            raise InvalidToolOption(f"{self.url!r} is no address of an agent: write https://agent.example.com/a2a.")
        self.url = self.url.rstrip("/")

    async def ask(
        self, turn: AgentTurn, headers: Mapping[str, str], report: Callable[[str], None] = lambda _: None
    ) -> AgentAnswer:
        """Take a turn; if it is cancelled, cancel it at the agent.

        Args:
            turn: The text or decision.
            headers: Sent with each request.
            report: Called with the agent's progress.

        Raises:
            ToolException: The agent cannot be reached, or cannot answer.
        """
        async with self._open() as client:
            line = AgentConnection(client, {**VERSION_HEADERS, **headers}, report, streams=self.streams)
            work = asyncio.ensure_future(self._speak(line, turn))
            try:
                # Shielded, so that a started task can still be identified and cancelled.
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                try:
                    await line.hang_up(work)
                finally:
                    work.cancel()
                    await asyncio.gather(work, return_exceptions=True)
                raise
            except httpx.TimeoutException:
                await line.hang_up()
                raise ToolException(LATE, retryable=True) from None
            except (httpx.RequestError, httpx.InvalidURL):
                raise ToolException("The agent cannot be reached. Try again later.", retryable=True) from None

    async def find_dialect(self, line: AgentConnection) -> AgentDialect:
        """Return the agent's protocol.

        Raises:
            ToolException: It cannot be detected.
        """
        path = httpx.URL(self.url).path
        for dialect, ending in _PATHS.items():
            if self.dialect == dialect or (self.dialect == "auto" and path.endswith(ending)):
                return "chat" if dialect == "chat" else "responses"
        if self._found is None:
            self._found = await self._find_interface(line)
        if self._found is None:
            raise ToolException(_UNKNOWN.format(self.url))
        return "a2a"

    async def _speak(self, line: AgentConnection, turn: AgentTurn) -> AgentAnswer:
        dialect = await self.find_dialect(line)
        if dialect == "a2a":
            assert self._found is not None
            return await ask_a2a(line, self._found, turn)
        ending = _PATHS[dialect]
        url = self.url if self.url.endswith(ending) else f"{self.url}{ending}"
        return await (ask_chat if dialect == "chat" else ask_responses)(line, url, turn, self.model)

    async def _find_interface(self, line: AgentConnection) -> A2aInterface | None:
        """Read the agent's card: at the address itself, below it, or at the well-known place of its host."""
        root = str(httpx.URL(self.url).copy_with(raw_path=CARD.encode()))
        places = [self.url] if self.url.endswith(".json") else [f"{self.url}{CARD}", root]
        for place in dict.fromkeys(places):
            try:
                card = await line.get(place)
            except ToolException as error:
                if error.retryable:
                    raise
                continue
            return A2aInterface.choose(card)
        return None

    def _open(self) -> httpx.AsyncClient:
        hosts = name_hosts(self.url)
        rules = OutgoingRules(allow=hosts, private=hosts, ports=None)
        # Beyond the deadline, so that a task without an id yet can get one and be cancelled.
        seconds = self.timeout + HANGING_UP
        return open_client(
            rules,
            AnswerBounds(_MOST_BYTES, seconds),
            OutgoingSettings().outgoing_proxy,
            timeout=httpx.Timeout(seconds, connect=_CONNECTING),
        )


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
