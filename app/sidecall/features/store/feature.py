"""What the feature store adds to a server."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Feature


class StoreFields(BaseSettings, defer_build=True):
    """How much tools remember in the store."""

    max_store_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=0,
        description="Most bytes of what tools remember in the store, per worker, where it is kept in memory; beyond it "
        "they cannot add anything.",
    )
    max_item_bytes: int = Field(
        default=1024 * 1024, ge=1, description="Most bytes of one thing that tools remember in the store, as JSON."
    )


FEATURE = Feature(
    name="store",
    parameters=frozenset({"store"}),
)
