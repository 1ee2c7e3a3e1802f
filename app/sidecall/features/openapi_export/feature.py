"""What the feature openapi_export adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import CALL

FEATURE = Feature(
    name="openapi_export",
    routes=(
        Route("GET", "/openapi/tools.json", "sidecall.features.openapi_export.routes:get_tools_document"),
        Route("POST", "/tools/{name}/call", "sidecall.features.openapi_export.routes:call_operation", CALL),
    ),
    commands={"openapi": "sidecall.features.openapi_export.cli:openapi"},
)
