"""What the feature history adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import CALL

FEATURE = Feature(
    name="history",
    needs=("calls",),
    settings_off={"history": "off"},
    forms=("sidecall.features.history.replay_routes:ReplayWish",),
    routes=(
        Route(
            "POST",
            "/tool_calls/{call_id:uuid}/replay",
            "sidecall.features.history.replay_routes:replay_tool_call",
            CALL,
        ),
    ),
)
