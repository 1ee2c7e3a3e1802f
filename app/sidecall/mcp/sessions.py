"""Sessions of the earlier revisions: by them a client says which of its calls is to be cancelled, and nothing else.

They are kept in this process, so they are given only where one process answers all requests.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import field
from secrets import token_urlsafe

from sidecall.core.context import Caller
from sidecall.mcp.wire import INVALID_REQUEST, Id, RpcError
from sidecall.records import dataclass

# The header that names a session.
HEADER = "Mcp-Session-Id"
RAW_HEADER = HEADER.lower().encode()

# Sessions that are kept, of all callers and of one; and seconds until one that nobody uses is forgotten.
_MOST, _MOST_OF_CALLER = 10_000, 1000
_IDLE = 3600.0

Cancel = Callable[[], None]


@dataclass(slots=True)
class Session:
    """One client's: whose it is, when it was used, and what cancels the calls that run."""

    owner: tuple[str, str]
    used: float
    running: dict[Id, Cancel] = field(default_factory=dict)

    def cancel(self, call_id: object) -> None:
        """Cancel the call of this id, if it runs."""
        cancel = self.running.get(call_id) if isinstance(call_id, str | int) else None
        if cancel is not None:
            cancel()


class Sessions:
    """Keep sessions, those longest unused first; each is known to the caller who has begun it, and to nobody else."""

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

    def begin(self, caller: Caller) -> str:
        """Begin a session, and return its id; where there is no room, the one longest unused ends."""
        owner = (caller.tenant, caller.subject)
        self._forget_idle()
        if self._counts.get(owner, 0) >= self._most_of_caller:
            self._end(next(key for key, session in self._sessions.items() if session.owner == owner))
        elif len(self._sessions) >= self._most:
            self._end(next(iter(self._sessions)))
        session_id = token_urlsafe(24)
        self._sessions[session_id] = Session(owner, self._clock())
        self._counts[owner] = self._counts.get(owner, 0) + 1
        return session_id

    def find(self, session_id: bytes, caller: Caller) -> Session:
        """Find a caller's session, which is used by that.

        Raises:
            RpcError: It has none of this id, or not any more.
        """
        self._forget_idle()
        key = session_id.decode("latin-1")
        session = self._sessions.get(key)
        if session is None or session.owner != (caller.tenant, caller.subject):
            raise RpcError(INVALID_REQUEST, "There is no such session, or not any more: initialize anew.", status=404)
        session.used = self._clock()
        self._sessions.move_to_end(key)
        return session

    def end(self, session_id: bytes, caller: Caller) -> None:
        """End a caller's session, and cancel what runs in it.

        Raises:
            RpcError: It has none of this id.
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
            if not session.running:
                idle.append(session_id)
        for session_id in idle:
            self._end(session_id)
