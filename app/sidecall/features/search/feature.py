"""What the feature search adds to a server: a route, and the tools with which models search."""

from typing import TYPE_CHECKING

from sidecall.feature import Built, Feature, Host, Route
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.search import search_tool as _search_tool
else:
    _search_tool = Later("sidecall.features.search.search_tool")


def build(host: Host) -> Built:
    """Make the tools that find those of the registry."""
    return Built(tools=_search_tool.make_search_tools(host.registry))


FEATURE = Feature(
    name="search",
    routes=(Route("GET", "/tools/search", "sidecall.features.search.routes:search_tools"),),
    build=build,
)
