"""What the feature contents adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import CALL

FEATURE = Feature(
    name="contents",
    mcp_methods={
        "resources/list": "sidecall.features.contents.mcp_resources:list_resources",
        "resources/templates/list": "sidecall.features.contents.mcp_resources:list_templates",
        "resources/read": "sidecall.features.contents.mcp_resources:read_resource",
    },
    routes=(
        Route("GET", "/contents/{content_id}", "sidecall.features.contents.routes:get_content", CALL),
        Route("POST", "/contents", "sidecall.features.contents.routes:create_content", CALL),
        Route("DELETE", "/contents/{content_id}", "sidecall.features.contents.routes:delete_content", CALL),
    ),
)
