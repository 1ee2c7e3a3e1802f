"""What the feature vector_stores adds to a server."""

from sidecall.feature import Feature, Route
from sidecall.kernel.core.scopes import CALL

FEATURE = Feature(
    name="vector_stores",
    needs=("toolkits",),
    settings_off={"toolkits": lambda names: tuple(name for name in names if name != "file_search")},
    part="sidecall.features.vector_stores.stores:make_vector_stores",
    serves=lambda settings: "file_search" in settings.toolkits,
    forms=("sidecall.features.vector_stores.request_models:REQUESTS",),
    routes=(
        Route("POST", "/files", "sidecall.features.vector_stores.file_routes:create_sent_file", CALL),
        Route("GET", "/files", "sidecall.features.vector_stores.file_routes:list_sent_files", CALL),
        Route("GET", "/files/{file_id}", "sidecall.features.vector_stores.file_routes:get_file", CALL),
        Route("DELETE", "/files/{file_id}", "sidecall.features.vector_stores.file_routes:delete_file", CALL),
        Route("GET", "/files/{file_id}/content", "sidecall.features.vector_stores.file_routes:get_file_content", CALL),
        Route("POST", "/vector_stores", "sidecall.features.vector_stores.routes:create_vector_store", CALL),
        Route("GET", "/vector_stores", "sidecall.features.vector_stores.routes:list_vector_stores", CALL),
        Route(
            "GET", "/vector_stores/{vector_store_id}", "sidecall.features.vector_stores.routes:get_vector_store", CALL
        ),
        Route(
            "POST",
            "/vector_stores/{vector_store_id}",
            "sidecall.features.vector_stores.routes:update_vector_store",
            CALL,
        ),
        Route(
            "DELETE",
            "/vector_stores/{vector_store_id}",
            "sidecall.features.vector_stores.routes:delete_vector_store",
            CALL,
        ),
        Route(
            "POST",
            "/vector_stores/{vector_store_id}/search",
            "sidecall.features.vector_stores.routes:search_vector_store",
            CALL,
        ),
        Route(
            "POST",
            "/vector_stores/{vector_store_id}/files",
            "sidecall.features.vector_stores.routes:create_vector_store_file",
            CALL,
        ),
        Route(
            "GET",
            "/vector_stores/{vector_store_id}/files",
            "sidecall.features.vector_stores.routes:list_vector_store_files",
            CALL,
        ),
        Route(
            "GET",
            "/vector_stores/{vector_store_id}/files/{file_id}",
            "sidecall.features.vector_stores.routes:get_vector_store_file",
            CALL,
        ),
        Route(
            "DELETE",
            "/vector_stores/{vector_store_id}/files/{file_id}",
            "sidecall.features.vector_stores.routes:delete_vector_store_file",
            CALL,
        ),
    ),
)
