"""The sender of a call: the program that waits for its answer, as far as it is known."""

from collections.abc import Collection, Hashable, Mapping

from msgspec import Struct, field

from sidecall.kernel.core.context import ANONYMOUS, Caller, Presence
from sidecall.kernel.core.deadline import Deadline


class Sender(Struct, frozen=True):
    """Who sends a call, and what came with the request: the calls of one request have the same sender.

    Args:
        headers: Those of the request.
        caller: Who has authenticated.
        presence: Whether the client is still connected.
        deadline: Until when the client waits, which shortens the deadline of the tool.
        pinned: The contract hashes of the tool that the client knows; None where it did not say.
        holder: Against what its results count until they are released; None where they do while they are made.
        wants_value: Whether the client may read the result as a value, now or when the answer is fetched later.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    caller: Caller = ANONYMOUS
    presence: Presence | None = None
    deadline: Deadline | None = None
    pinned: Collection[str] | None = None
    holder: Hashable = None
    wants_value: bool = False


# A program that says nothing of itself.
UNKNOWN = Sender()
