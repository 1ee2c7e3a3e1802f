"""What the feature status adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import OPERATE

FEATURE = Feature(
    name="status",
    routes=(Route("GET", "/status", "sidecall.features.status.routes:get_status", OPERATE),),
    commands={"status": "sidecall.features.status.cli:status"},
)
