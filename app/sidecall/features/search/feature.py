"""What the feature search adds to a server: a route, and the tools with which models search."""

from sidecall.feature import Built, Feature, Host, Route
from sidecall.features.search.search_tool import make_search_tools


def build(host: Host) -> Built:
    """Make the tools that find those of the registry."""
    return Built(tools=make_search_tools(host.registry))


FEATURE = Feature(
    name="search",
    routes=(Route("GET", "/tools/search", "sidecall.features.search.routes:search_tools"),),
    build=build,
)
