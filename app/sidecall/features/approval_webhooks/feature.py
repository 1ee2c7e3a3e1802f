"""What the feature approval_webhooks adds to a server: receivers that are told what becomes of approvals."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sidecall.feature import Feature, Host
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.approval_webhooks import notifier as _telling
else:
    _telling = Later("sidecall.features.approval_webhooks.notifier")


@asynccontextmanager
async def run(host: Host) -> AsyncIterator[None]:
    """Tell the receivers while the server runs; none are named by default."""
    settings = host.server
    if not settings.approval_receivers:
        yield
        return
    wanted = _telling.Telling(
        urls=settings.approval_receivers,
        keys=settings.webhook_keys,
        public_url=settings.public_url,
        expiry_notice=settings.approval_expiry_notice,
        max_approvals=settings.max_approvals,
    )
    async with _telling.telling(host.ledger.database, wanted):
        yield


FEATURE = Feature(
    name="approval_webhooks",
    needs=("approvals",),
    settings_off={"approval_webhooks": None},
    run=run,
)
