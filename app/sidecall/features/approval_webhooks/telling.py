"""Tell receivers of approvals while a server runs."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sidecall.features.approval_webhooks.messages import ApprovalComposer
from sidecall.features.approval_webhooks.receivers import NamedReceivers
from sidecall.features.approval_webhooks.sql_store import SqlApprovalMessages
from sidecall.features.webhooks.dispatcher import PAUSES, MessageDispatcher
from sidecall.features.webhooks.signing import read_key
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Database

logger = logging.getLogger("sidecall")

# Seconds after which a server says again whom it tells, and where the store was unavailable.
_AGAIN = 60.0
_SOON = 1.0
# Messages that wait for one receiver at most, for each approval that may wait.
_FOR_EACH = 4


@dataclass(frozen=True, slots=True)
class Telling:
    """What an operator wants to be told: to whom, where persons find the console, and how long before an expiry."""

    urls: Sequence[str]
    keys: Sequence[str]
    public_url: str | None
    notice: float
    max_approvals: int


@asynccontextmanager
async def telling(database: Database, wanted: Telling) -> AsyncIterator[None]:
    """Note what becomes of approvals from now on, and send it, each at least once, until the end."""
    receivers = NamedReceivers(wanted.urls)
    queue = SqlApprovalMessages(database, receivers.names)
    keys, compose = [read_key(key) for key in wanted.keys], ApprovalComposer(wanted.public_url)
    dispatcher = MessageDispatcher(queue, receivers, keys, compose, PAUSES)
    logger.info("webhooks about approvals go to %s", ", ".join(receivers.origins))
    if wanted.public_url is None:
        logger.info("SIDECALL_PUBLIC_URL is not set, so webhooks about approvals name the path in the console alone")
    again = await _keep(queue, wanted)
    keeping = asyncio.get_running_loop().create_task(_go_round(queue, wanted, again))
    dispatcher.open()
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await dispatcher.close()


async def _go_round(queue: SqlApprovalMessages, wanted: Telling, again: float) -> None:
    while True:
        await asyncio.sleep(again)
        again = await _keep(queue, wanted)


async def _keep(queue: SqlApprovalMessages, wanted: Telling) -> float:
    """Say whom this server tells; return after how many seconds to say it again."""
    try:
        has_room = await queue.keep_receivers(wanted.notice, _FOR_EACH * wanted.max_approvals, time.time())
    except StoreUnavailable:
        return _SOON
    except Exception:
        logger.exception("it could not be noted who is told of approvals; it is tried again in %g s", _AGAIN)
        return _AGAIN
    if not has_room:
        logger.warning("no more messages about approvals are kept until a receiver takes those that wait")
    return _AGAIN
