"""What the feature approval_webhooks adds to a server: receivers that are told what becomes of approvals."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="approval_webhooks",
    needs=("approvals",),
    settings_off={"approval_webhooks": None},
    run="sidecall.features.approval_webhooks.notifier:run",
)
