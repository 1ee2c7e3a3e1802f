"""The module of each route; it is loaded when one of its routes is first needed.

Health routes are missing, since they must answer even if loading fails. Where two routes share a path, the first wins.
"""

from collections.abc import Iterator, Mapping

from sidecall.kernel.http.late_route import NamedRoute

# By module: method, path and the function's name.
RouteNames = Mapping[str, tuple[tuple[str, str, str], ...]]

ROUTES: RouteNames = {
    "sidecall.features.search.routes": (("GET", "/tools/search", "search_tools"),),
    "sidecall.kernel.rest.routes.tools": (
        ("GET", "/tools", "list_tools"),
        ("GET", "/tools/{name}", "get_tool"),
    ),
    "sidecall.features.openapi_export.routes": (
        ("GET", "/openapi/tools.json", "get_tools_document"),
        ("POST", "/tools/{name}/call", "call_operation"),
    ),
    "sidecall.kernel.rest.routes.tool_calls": (
        ("POST", "/tool_calls", "create_tool_call"),
        ("POST", "/tool_calls/batch", "create_tool_call_batch"),
    ),
    "sidecall.features.calls.routes": (
        ("GET", "/tool_calls", "list_tool_calls"),
        ("GET", "/tool_calls/summary", "summarize_tool_calls"),
        ("GET", "/tool_calls/export", "export_tool_calls"),
        ("GET", "/tool_calls/{call_id:uuid}", "get_tool_call"),
        ("GET", "/tool_calls/{call_id:uuid}/events", "watch_tool_call"),
        ("POST", "/tool_calls/{call_id:uuid}/cancel", "cancel_tool_call"),
    ),
    "sidecall.features.history.replay_routes": (("POST", "/tool_calls/{call_id:uuid}/replay", "replay_tool_call"),),
    "sidecall.features.contents.routes": (
        ("GET", "/contents/{content_id}", "get_content"),
        ("POST", "/contents", "create_content"),
        ("DELETE", "/contents/{content_id}", "delete_content"),
    ),
    "sidecall.features.workspaces.routes": (
        ("GET", "/workspaces/{workspace_id}", "get_workspace"),
        ("POST", "/workspaces/{workspace_id}", "update_workspace"),
        ("DELETE", "/workspaces/{workspace_id}", "delete_workspace"),
        ("POST", "/workspaces/{workspace_id}/files", "create_workspace_file"),
        ("GET", "/workspaces/{workspace_id}/files", "list_workspace_files"),
        ("GET", "/workspaces/{workspace_id}/files/{file_id}", "get_workspace_file"),
        ("DELETE", "/workspaces/{workspace_id}/files/{file_id}", "delete_workspace_file"),
        ("GET", "/workspaces/{workspace_id}/files/{file_id}/content", "get_workspace_file_content"),
    ),
    "sidecall.features.approvals.rule_routes": (
        ("GET", "/approvals/rules", "list_approval_rules"),
        ("DELETE", "/approvals/rules/{rule_id}", "revoke_approval_rule"),
    ),
    "sidecall.features.approvals.routes": (
        ("GET", "/approvals", "list_approvals"),
        ("GET", "/approvals/{approval_id}", "get_approval"),
        ("POST", "/approvals/{approval_id}", "decide_approval"),
    ),
    "sidecall.features.audit.routes": (("GET", "/audit", "list_audit"),),
    "sidecall.features.credentials.secret_routes": (
        ("GET", "/secrets", "list_secrets"),
        ("PUT", "/secrets/{name}", "put_secret"),
        ("DELETE", "/secrets/{name}", "delete_secret"),
    ),
    "sidecall.features.credentials.token_routes": (
        ("GET", "/oauth/tokens", "list_user_tokens"),
        ("DELETE", "/oauth/tokens/{provider}", "delete_user_token"),
    ),
    "sidecall.features.credentials.sign_in_routes": (
        ("GET", "/oauth/start", "show_sign_in"),
        ("POST", "/oauth/start", "begin_sign_in"),
        ("GET", "/oauth/callback", "end_sign_in"),
    ),
    "sidecall.features.access.identity_routes": (("GET", "/whoami", "get_identity"),),
    "sidecall.features.access.metadata_routes": (
        ("GET", "/.well-known/oauth-protected-resource", "get_resource_metadata"),
        ("GET", "/.well-known/oauth-protected-resource/{path:path}", "get_metadata_below"),
    ),
}
STATUS_ROUTES: RouteNames = {
    "sidecall.features.status.routes": (("GET", "/status", "get_status"),),
}
FILE_ROUTES: RouteNames = {
    "sidecall.features.vector_stores.file_routes": (
        ("POST", "/files", "create_sent_file"),
        ("GET", "/files", "list_sent_files"),
        ("GET", "/files/{file_id}", "get_file"),
        ("DELETE", "/files/{file_id}", "delete_file"),
        ("GET", "/files/{file_id}/content", "get_file_content"),
    ),
    "sidecall.features.vector_stores.routes": (
        ("POST", "/vector_stores", "create_vector_store"),
        ("GET", "/vector_stores", "list_vector_stores"),
        ("GET", "/vector_stores/{vector_store_id}", "get_vector_store"),
        ("POST", "/vector_stores/{vector_store_id}", "update_vector_store"),
        ("DELETE", "/vector_stores/{vector_store_id}", "delete_vector_store"),
        ("POST", "/vector_stores/{vector_store_id}/search", "search_vector_store"),
        ("POST", "/vector_stores/{vector_store_id}/files", "create_vector_store_file"),
        ("GET", "/vector_stores/{vector_store_id}/files", "list_vector_store_files"),
        ("GET", "/vector_stores/{vector_store_id}/files/{file_id}", "get_vector_store_file"),
        ("DELETE", "/vector_stores/{vector_store_id}/files/{file_id}", "delete_vector_store_file"),
    ),
}
METRICS_ROUTES: RouteNames = {
    "sidecall.features.telemetry.routes": (("GET", "/metrics", "get_metrics"),),
}


def make_routes(names: RouteNames) -> Iterator[NamedRoute]:
    """Make placeholders for routes, in order."""
    for module, routes in names.items():
        for method, path, name in routes:
            yield NamedRoute(module, method, path, name)
