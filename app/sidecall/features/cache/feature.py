"""What the feature cache adds to a server."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Built, Feature, Host
from sidecall.features.cache.answers import Caching
from sidecall.features.cache.steps import make_cache_stages


def build(host: Host) -> Built:
    """Make the step that runs tools with a cache."""
    settings = host.server
    caching = Caching(settings.max_cache_bytes, settings.max_cache_entries, settings.tool_timeout)
    return Built(stages=make_cache_stages(host.execute, caching))


class CacheFields(BaseSettings, defer_build=True):
    """How many answers are given again."""

    max_cache_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=0,
        description="Most bytes of answers that are given again, per worker; beyond it those go that were not asked "
        "for longest.",
    )
    max_cache_entries: int = Field(default=10_000, ge=0, description="Most of such answers, per worker.")


FEATURE = Feature(
    name="cache",
    options=frozenset({"cache"}),
    build=build,
)
