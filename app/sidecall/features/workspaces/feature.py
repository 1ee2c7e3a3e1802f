"""What the feature workspaces adds to a server."""

from sidecall.feature import Built, Feature, Host, Route
from sidecall.features.workspaces.steps import WORKSPACE_STAGES
from sidecall.kernel.core.scopes import CALL


def build(_host: Host) -> Built:
    """Return the steps that give tools the files of conversations."""
    return Built(stages=WORKSPACE_STAGES)


FEATURE = Feature(
    name="workspaces",
    parameters=frozenset({"workspace"}),
    forms=("sidecall.features.workspaces.uploads:WorkspaceTerm",),
    routes=(
        Route("GET", "/workspaces/{workspace_id}", "sidecall.features.workspaces.routes:get_workspace", CALL),
        Route("POST", "/workspaces/{workspace_id}", "sidecall.features.workspaces.routes:update_workspace", CALL),
        Route("DELETE", "/workspaces/{workspace_id}", "sidecall.features.workspaces.routes:delete_workspace", CALL),
        Route(
            "POST",
            "/workspaces/{workspace_id}/files",
            "sidecall.features.workspaces.routes:create_workspace_file",
            CALL,
        ),
        Route(
            "GET", "/workspaces/{workspace_id}/files", "sidecall.features.workspaces.routes:list_workspace_files", CALL
        ),
        Route(
            "GET",
            "/workspaces/{workspace_id}/files/{file_id}",
            "sidecall.features.workspaces.routes:get_workspace_file",
            CALL,
        ),
        Route(
            "DELETE",
            "/workspaces/{workspace_id}/files/{file_id}",
            "sidecall.features.workspaces.routes:delete_workspace_file",
            CALL,
        ),
        Route(
            "GET",
            "/workspaces/{workspace_id}/files/{file_id}/content",
            "sidecall.features.workspaces.routes:get_workspace_file_content",
            CALL,
        ),
    ),
    commands={"workspace": "sidecall.features.workspaces.cli:workspace"},
    build=build,
)
