"""Tell receivers of approvals: who is told, which messages, and how these are kept until they are sent."""

import asyncio
import hashlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from pydantic_core import to_json

from sidecall.feature import Host
from sidecall.features.approvals.stores import ListedApproval
from sidecall.features.webhooks.dispatcher import PAUSES, Message, MessageDispatcher
from sidecall.features.webhooks.receivers import Receiver, read_receiver
from sidecall.features.webhooks.signing import read_key
from sidecall.kernel.core.errors import CallbackRefused
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.call_entry import to_datetime
from sidecall.storage.database import Database

_LEFT_OUT = "SIDECALL_APPROVAL_WEBHOOKS does not name its receiver any more"


class NamedReceivers:
    """The named receivers of one server, each known by a hash: an address may have a secret in it.

    Their names may lead to private addresses, since no one but the operator writes them.
    """

    def __init__(self, urls: Iterable[str]) -> None:
        """Read the addresses.

        Raises:
            CallbackRefused: One is none.
        """
        self._receivers = {name_receiver(url): replace(read_receiver(url), is_private=True) for url in urls}

    def __bool__(self) -> bool:
        return bool(self._receivers)

    @property
    def names(self) -> tuple[str, ...]:
        """The hashes."""
        return tuple(self._receivers)

    @property
    def origins(self) -> tuple[str, ...]:
        """Their schemes, hosts and ports, which may be logged."""
        found = (receiver.url for receiver in self._receivers.values())
        return tuple(dict.fromkeys(str(url.copy_with(raw_path=b"/")).rstrip("/") for url in found))

    def find(self, name: str) -> Receiver:
        """Return a receiver.

        Raises:
            CallbackRefused: It is not named any more.
        """
        receiver = self._receivers.get(name)
        if receiver is None:
            raise CallbackRefused(_LEFT_OUT)
        return receiver


def name_receiver(url: str) -> str:
    """Return what an address is known by in the store."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]


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


# Seconds for which a receiver counts after a server has last said that it is told.
KNOWN_FOR = 7 * 86_400.0


class SqlApprovalMessages:
    """Find what is due to these receivers, and hand out each message to one server."""

    def __init__(self, database: Database, receivers: Sequence[str]) -> None:
        self._database = database
        self._receivers = receivers

    async def keep_receivers(self, notice: float, most: int, now: float) -> bool:
        """Say that these receivers are told, so that messages for them are noted from now on.

        Args:
            notice: Seconds before its expiry at which a pending approval is told of again.
            most: The maximum number of messages that wait for one receiver.
            now: In seconds since 1970.

        Returns:
            Whether there is room for more messages to each of them.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        has_room = True
        for receiver in self._receivers:
            await self._database.write("tell_approval_receiver", receiver, notice, most, now + KNOWN_FOR)
            [(waiting,)] = await self._database.read("count_approval_messages", receiver)
            has_room = has_room and waiting < most
        return has_room

    async def list_due(self, now: float, most: int, most_of_host: int) -> Sequence[ApprovalMessage]:
        """List due messages: for each receiver those that wait for their first try, then the others.

        Args:
            now: In seconds since 1970.
            most: The maximum number.
            most_of_host: The maximum number for one receiver.
        """
        due: list[ApprovalMessage] = []
        for receiver in self._receivers:
            rows = await self._database.read("list_due_approval_messages", receiver, now, most_of_host)
            due += [ApprovalMessage(*row) for row in rows]
        return due[:most]

    async def claim(self, due: ApprovalMessage, until: float) -> ApprovalMessage | None:
        """Claim a message until it is due again; None if another server was faster."""
        row = await self._database.write("claim_approval_message", due.number, until, due.at)
        if row is None:
            return None
        _, event, status, listed, happened_at = row
        place = (due.number, due.approval_id, due.url, until, due.tries + 1)
        return ApprovalMessage(*place, event, status, listed, happened_at)

    async def settle(self, claimed: ApprovalMessage, again_at: float | None) -> None:
        """Set the time of the next attempt; None removes it."""
        if again_at is None:
            await self._database.write("forget_approval_message", claimed.number, claimed.at)
        else:
            await self._database.write("repeat_approval_message", claimed.number, again_at, claimed.at)


logger = logging.getLogger("sidecall")

# Seconds after which a server says again whom it tells, and where the store was unavailable.
_AGAIN = 60.0
_SOON = 1.0
# Messages that wait for one receiver at most, for each approval that may wait.
_FOR_EACH = 4


@asynccontextmanager
async def run(host: Host) -> AsyncIterator[None]:
    """Note what becomes of approvals from now on, and tell the receivers, each at least once, until the end."""
    settings, database = host.server, host.ledger.database
    receivers, public_url = NamedReceivers(settings.approval_receivers), settings.public_url
    queue = SqlApprovalMessages(database, receivers.names)
    known, compose = [read_key(key) for key in settings.webhook_keys], ApprovalComposer(public_url)
    dispatcher = MessageDispatcher(queue, receivers, known, compose, PAUSES)
    logger.info("webhooks about approvals go to %s", ", ".join(receivers.origins))
    if public_url is None:
        logger.info("SIDECALL_PUBLIC_URL is not set, so webhooks about approvals name the path in the console alone")
    keep = partial(_keep, queue, settings.approval_expiry_notice, _FOR_EACH * settings.max_approvals)
    again = await keep()
    keeping = asyncio.get_running_loop().create_task(_go_round(keep, again))
    dispatcher.open()
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await dispatcher.close()


async def _go_round(keep: Callable[[], Awaitable[float]], again: float) -> None:
    while True:
        await asyncio.sleep(again)
        again = await keep()


async def _keep(queue: SqlApprovalMessages, notice: float, most: int) -> float:
    """Say whom this server tells; return after how many seconds to say it again."""
    try:
        has_room = await queue.keep_receivers(notice, most, time.time())
    except StoreUnavailable:
        return _SOON
    except Exception:
        logger.exception("it could not be noted who is told of approvals; it is tried again in %g s", _AGAIN)
        return _AGAIN
    if not has_room:
        logger.warning("no more messages about approvals are kept until a receiver takes those that wait")
    return _AGAIN
