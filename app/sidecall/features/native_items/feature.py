"""What the feature native_items adds to a server: options of tools, and the question about calls of a provider."""

from typing import TYPE_CHECKING

from sidecall.feature import Built, Feature, Host
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.native_items import provider_approval as _provider_approval
else:
    _provider_approval = Later("sidecall.features.native_items.provider_approval")


def build(_host: Host) -> Built:
    """Make the tool that only asks a person."""
    return Built(tools=[_provider_approval.make_provider_approval()])


FEATURE = Feature(
    name="native_items",
    options=frozenset({"native", "toolset", "input", "grammar"}),
    build=build,
)
