"""What the feature calls adds to a server."""

from sidecall.feature import Feature, Route

FEATURE = Feature(
    name="calls",
    routes=(
        Route("GET", "/tool_calls", "sidecall.features.calls.routes:list_tool_calls"),
        Route("GET", "/tool_calls/summary", "sidecall.features.calls.routes:summarize_tool_calls"),
        Route("GET", "/tool_calls/export", "sidecall.features.calls.routes:export_tool_calls"),
        Route("GET", "/tool_calls/{call_id:uuid}", "sidecall.features.calls.routes:get_tool_call"),
        Route("GET", "/tool_calls/{call_id:uuid}/events", "sidecall.features.calls.routes:watch_tool_call"),
        Route("POST", "/tool_calls/{call_id:uuid}/cancel", "sidecall.features.calls.routes:cancel_tool_call"),
    ),
    commands={"calls": "sidecall.features.calls.cli:calls"},
)
