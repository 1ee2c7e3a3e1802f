"""What the feature cache adds to a server."""

from sidecall.feature import Built, Feature, Host
from sidecall.features.cache.answers import Caching
from sidecall.features.cache.steps import make_cache_stages


def build(host: Host) -> Built:
    """Make the step that runs tools with a cache."""
    settings = host.server
    caching = Caching(settings.max_cache_bytes, settings.max_cache_entries, settings.tool_timeout)
    return Built(stages=make_cache_stages(host.execute, caching))


FEATURE = Feature(
    name="cache",
    options=frozenset({"cache"}),
    build=build,
)
