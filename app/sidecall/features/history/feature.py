"""What the feature history adds to a server."""

from sidecall.feature import Built, Feature, Host, Route
from sidecall.kernel.core.scopes import CALL


def build(host: Host) -> Built:
    """Note how each call ends; where the history is off, nothing is noted."""
    notes = host.history.notes
    return Built(observers=[] if notes is None else [notes])


FEATURE = Feature(
    name="history",
    needs=("calls",),
    settings_off={"history": "off"},
    part="sidecall.features.history.history:make_history",
    forms=("sidecall.features.history.replay_routes:ReplayWish",),
    routes=(
        Route(
            "POST",
            "/tool_calls/{call_id:uuid}/replay",
            "sidecall.features.history.replay_routes:replay_tool_call",
            CALL,
        ),
    ),
    build=build,
)
