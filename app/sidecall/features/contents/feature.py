"""What the feature contents adds to a server."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import CALL


class ContentFields(BaseSettings, defer_build=True):
    """How much is kept of results that were cut, and for how long."""

    artifact_ttl: float = Field(
        default=3600.0, gt=0, allow_inf_nan=False, description="Seconds that results which were cut are kept whole."
    )
    max_artifact_bytes: int = Field(
        default=32 * 1024 * 1024, ge=0, description="Most bytes of such results kept together."
    )
    max_artifact_bytes_per_caller: int | None = Field(
        default=None, ge=1, description="Most bytes of them and of uploads that one caller keeps; more uploads get 429."
    )


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
