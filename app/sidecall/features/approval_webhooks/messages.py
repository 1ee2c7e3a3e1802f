"""Messages about approvals, as their receivers get them."""

from dataclasses import dataclass

from pydantic_core import to_json

from sidecall.features.webhooks.dispatcher import Message
from sidecall.kernel.ports.approvals.stores import ListedApproval
from sidecall.kernel.ports.call_entry import to_datetime

# Where a person sees and decides an approval, below the server's public address.
PLACE = "/console/approvals/"


@dataclass(frozen=True, slots=True)
class ApprovalMessage:
    """A message that is due to a receiver, or was claimed.

    `number` and `at`, when it is due, name it; `url` is the hash of its receiver. The rest is there once it is claimed:
    what has happened and when, the approval's status then, and how lists showed it; None where that is long.
    """

    number: int
    approval_id: str
    url: str
    at: float
    tries: int
    event: str = ""
    status: str = ""
    listed: str | None = None
    happened_at: float = 0.0

    @property
    def subject(self) -> str:
        """What it is about, for the log."""
        return f"approval {self.approval_id}"


class ApprovalComposer:
    """Writes messages with a link to the approval; without a public address the link is the path alone."""

    def __init__(self, public_url: str | None) -> None:
        self._base = f"{public_url or ''}{PLACE}"

    async def __call__(self, due: ApprovalMessage) -> Message | None:
        """Return what to send; None for a call that waits for a sign-in, since no decision is asked for."""
        listed = due.listed
        if listed is not None and ListedApproval.model_validate_json(listed).sign_in is not None:
            return None
        data = to_json({"id": due.approval_id, "status": due.status}) if listed is None else listed.encode()
        happened = to_datetime(due.happened_at).isoformat().replace("+00:00", "Z")
        link = to_json(f"{self._base}{due.approval_id}")
        head = to_json({"type": due.event, "timestamp": happened})
        body = b'%s,"data":%s,"url":%s}}' % (head[:-1], data[:-1], link)
        return Message(f"msg_{due.approval_id}_{due.number}", body)
