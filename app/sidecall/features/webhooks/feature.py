"""What the feature webhooks adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="webhooks",
    needs=("calls",),
    settings_off={"webhook_hosts": (), "webhook_secret": None},
)
