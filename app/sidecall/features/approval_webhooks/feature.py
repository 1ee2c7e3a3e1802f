"""What the feature approval_webhooks adds to a server: receivers that are told what becomes of approvals."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sidecall.feature import Feature, Host
from sidecall.features.approval_webhooks.notifier import NotifierSettings, run_notifier


@asynccontextmanager
async def run(host: Host) -> AsyncIterator[None]:
    """Tell the receivers while the server runs; none are named by default."""
    settings = host.server
    if not settings.approval_receivers:
        yield
        return
    wanted = NotifierSettings(
        urls=settings.approval_receivers,
        keys=settings.webhook_keys,
        public_url=settings.public_url,
        expiry_notice=settings.approval_expiry_notice,
        max_approvals=settings.max_approvals,
    )
    async with run_notifier(host.ledger.database, wanted):
        yield


FEATURE = Feature(
    name="approval_webhooks",
    needs=("approvals",),
    settings_off={"approval_webhooks": None},
    run=run,
)
