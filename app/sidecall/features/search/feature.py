"""What the feature search adds to a server."""

from sidecall.feature import Feature, Route

FEATURE = Feature(
    name="search",
    routes=(Route("GET", "/tools/search", "sidecall.features.search.routes:search_tools"),),
)
