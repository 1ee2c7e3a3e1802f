"""Sessions of earlier revisions, by which a client cancels its calls, and nothing else.

They are kept in this process, so they are given only where one process answers all requests.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe

from sidecall.features.mcp_server.revisions import INVALID_REQUEST, Id, RpcError
from sidecall.kernel.core.context import Caller

# The header that names a session.
HEADER = "Mcp-Session-Id"
RAW_HEADER = HEADER.lower().encode()

# The maximum number of sessions, of all callers and of one; and seconds until an unused one is dropped.
_MOST, _MOST_OF_CALLER = 10_000, 1000
_IDLE = 3600.0

Cancel = Callable[[], None]


@dataclass(slots=True)
class Session:
    """A client's session: its owner, last use, number of open requests, and how to cancel them."""

    key: str
    owner: tuple[str, str]
    used: float
    uses: int = 0
    running: dict[Id, Cancel] = field(default_factory=dict)

    def cancel(self, call_id: object) -> None:
        """Cancel the call of this id, if it runs."""
        cancel = self.running.get(call_id) if isinstance(call_id, str | int) else None
        if cancel is not None:
            cancel()


class Sessions:
    """Keep sessions, least recently used first; each is visible to the caller who began it only."""

    def __init__(
        self, most: int = _MOST, most_of_caller: int = _MOST_OF_CALLER, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._most_of_caller = most_of_caller
        self._clock = clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._counts: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, caller: Caller) -> str | None:
        """Begin a session, and return its id; without room the least recently used one ends.

        None if all are in use: a new client must not cancel others' calls.
        """
        owner = (caller.tenant, caller.subject)
        self._forget_idle()
        if not self._make_room(owner):
            return None
        session_id = token_urlsafe(24)
        self._sessions[session_id] = Session(session_id, owner, self._clock())
        self._counts[owner] = self._counts.get(owner, 0) + 1
        return session_id

    def _make_room(self, owner: tuple[str, str]) -> bool:
        is_callers = self._counts.get(owner, 0) >= self._most_of_caller
        if not is_callers and len(self._sessions) < self._most:
            return True
        for key, session in self._sessions.items():
            if not session.uses and (session.owner == owner or not is_callers):
                self._end(key)
                return True
        return False

    @contextmanager
    def use(self, session: Session, request_id: Id | None = None, cancel: Cancel | None = None) -> Iterator[None]:
        """Use a session during a request, which `cancel` ends when its client asks for that."""
        session.uses += 1
        if request_id is not None and cancel is not None:
            session.running[request_id] = cancel
        try:
            yield
        finally:
            session.uses -= 1
            if request_id is not None and session.running.get(request_id) == cancel:
                session.running.pop(request_id, None)
            self._touch(session)

    def _touch(self, session: Session) -> None:
        session.used = self._clock()
        if session.key in self._sessions:
            self._sessions.move_to_end(session.key)

    def find(self, session_id: bytes, caller: Caller) -> Session:
        """Find a caller's session, and mark it as used.

        Raises:
            RpcError: The caller has no such session, or no longer.
        """
        self._forget_idle()
        key = session_id.decode("latin-1")
        session = self._sessions.get(key)
        if session is None or session.owner != (caller.tenant, caller.subject):
            raise RpcError(INVALID_REQUEST, "There is no such session, or not any more: initialize anew.", status=404)
        self._touch(session)
        return session

    def end(self, session_id: bytes, caller: Caller) -> None:
        """End a caller's session, and cancel its calls.

        Raises:
            RpcError: The caller has no such session.
        """
        self.find(session_id, caller)
        self._end(session_id.decode("latin-1"))

    def _end(self, session_id: str) -> None:
        session = self._sessions.pop(session_id)
        left = self._counts.pop(session.owner) - 1
        if left:
            self._counts[session.owner] = left
        for cancel in list(session.running.values()):
            cancel()

    def _forget_idle(self) -> None:
        oldest = self._clock() - _IDLE
        idle = []
        for session_id, session in self._sessions.items():
            if session.used > oldest:
                break
            if not session.uses:
                idle.append(session_id)
        for session_id in idle:
            self._end(session_id)
