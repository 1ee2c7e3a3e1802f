"""A remote agent: its address, its protocol, and turns with it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import httpx

from sidecall.features.remote_agents.a2a import CARD, VERSION_HEADERS, A2aInterface, ask_a2a
from sidecall.features.remote_agents.chat import ask_chat
from sidecall.features.remote_agents.connection import HANGING_UP, AgentConnection
from sidecall.features.remote_agents.responses import ask_responses
from sidecall.features.remote_agents.turns import AgentAnswer, AgentDialect, AgentTurn
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
