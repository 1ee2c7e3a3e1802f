"""What the feature conversations adds to a server."""

from sidecall.feature import Feature, Route

FEATURE = Feature(
    name="conversations",
    needs=("calls", "history", "approvals", "workspaces"),
    routes=(
        Route("GET", "/conversations", "sidecall.features.conversations.routes:list_conversations"),
        Route("GET", "/conversations/{conversation_id}", "sidecall.features.conversations.routes:get_conversation"),
    ),
)
