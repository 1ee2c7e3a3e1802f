"""What the feature approval_webhooks adds to a server: receivers that are told what becomes of approvals."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sidecall.feature import Feature, Host
from sidecall.later import later

_run_notifier: Callable[..., AbstractAsyncContextManager[None]] = later(
    "sidecall.features.approval_webhooks.notifier:run_notifier"
)


@asynccontextmanager
async def run(host: Host) -> AsyncIterator[None]:
    """Tell the receivers while the server runs; none are named by default."""
    settings = host.server
    if not settings.approval_receivers:
        yield
        return
    running = _run_notifier(
        host.ledger.database,
        urls=settings.approval_receivers,
        keys=settings.webhook_keys,
        public_url=settings.public_url,
        notice=settings.approval_expiry_notice,
        max_approvals=settings.max_approvals,
    )
    async with running:
        yield


FEATURE = Feature(
    name="approval_webhooks",
    needs=("approvals",),
    settings_off={"approval_webhooks": None},
    run=run,
)
