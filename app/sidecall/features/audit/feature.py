"""What the feature audit adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import OPERATE

FEATURE = Feature(
    name="audit",
    routes=(Route("GET", "/audit", "sidecall.features.audit.routes:list_audit", OPERATE),),
    commands={"audit": "sidecall.features.audit.cli:audit"},
)
