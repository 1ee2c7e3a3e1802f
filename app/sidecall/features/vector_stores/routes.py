"""Routes of vector stores, in OpenAI's shapes."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel

from sidecall.features.server_parts import PartsDep
from sidecall.features.vector_stores.file_routes import UNAVAILABLE, ChoiceDep, SentFileId, StoresDep
from sidecall.features.vector_stores.openai_shapes import (
    DeletedVectorStore,
    DeletedVectorStoreFile,
    VectorStore,
    VectorStoreFile,
    VectorStoreFileListing,
    VectorStoreListing,
    VectorStoreSearchResults,
)
from sidecall.features.vector_stores.records import Member
from sidecall.features.vector_stores.request_models import (
    NewVectorStore,
    NewVectorStoreFile,
    VectorStoreChange,
    VectorStoreSearch,
    choose_cut,
    read_model,
)
from sidecall.http.disconnect import DisconnectListener
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.problems import Problem
from sidecall.kernel.core.errors import InvalidParameter, ToolException
from sidecall.rest.openapi import CALLER_PROBLEM, json_body

router = APIRouter(tags=["file search"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

StoreId = Annotated[str, Path(description="The `id` of the vector store.", max_length=100)]
_STORES, _ONE = "/vector_stores", "/vector_stores/{vector_store_id}"
_RESPONSES: dict[int | str, dict[str, Any]] = {
    **CALLER_PROBLEM,
    404: {"model": Problem, "description": "There is no such vector store, or file in it, of yours."},
    422: {"model": Problem, "description": "A parameter is wrong."},
    **UNAVAILABLE,
}
_SENT: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is not JSON, or the header that names the caller is wrong."},
    404: {"model": Problem, "description": "There is no such vector store or file of yours."},
    413: {"model": Problem, "description": "The body is larger than this server takes."},
    415: {"model": Problem, "description": "The body is not declared as JSON."},
    422: {"model": Problem, "description": "The body is not what it should be."},
    **UNAVAILABLE,
}
_ADDED: dict[int | str, dict[str, Any]] = {
    **_SENT,
    409: {"model": Problem, "description": "Another request puts this file there otherwise just now, or takes it out."},
    429: {"model": Problem, "description": "You keep as much as you may."},
}


def _show(shown: BaseModel) -> Response:
    return Reply(shown.model_dump_json().encode()).to_response()


def _body(model: type[BaseModel], **example: Any) -> dict[str, Any]:
    return {"requestBody": json_body(model, {"usual": {"value": example}})}


@router.post(
    _STORES,
    operation_id="create_vector_store",
    summary="Make a vector store",
    response_model=VectorStore,
    responses=_ADDED,
    openapi_extra=_body(NewVectorStore, name="handbook", file_ids=["file-…"]),
)
async def create_vector_store(request: Request, parts: PartsDep, stores: StoresDep, caller: CallerDep) -> Response:
    """Make a store for files that are to be searched, and put some in."""
    wanted = await read_model(request, parts.bounds, NewVectorStore)
    for file_id in wanted.file_ids:
        await stores.files.find(caller.tenant, file_id)
    made = await stores.create(caller.tenant, wanted.name, wanted.metadata or {})
    for file_id in wanted.file_ids:
        await stores.add(caller.tenant, made.id, file_id, {}, choose_cut(wanted.chunking_strategy))
    return _show(VectorStore.of(await stores.find(caller.tenant, made.id)))


@router.get(
    _STORES,
    operation_id="list_vector_stores",
    summary="List vector stores",
    response_model=VectorStoreListing,
    responses={code: it for code, it in _RESPONSES.items() if code != 404},
)
async def list_vector_stores(stores: StoresDep, caller: CallerDep, choice: ChoiceDep) -> Response:
    """List the stores."""
    page = await stores.list(caller.tenant, choice)
    shown = [VectorStore.of(store) for store in page.items]
    ends = (shown[0].id, shown[-1].id) if shown else (None, None)
    return _show(VectorStoreListing(data=shown, first_id=ends[0], last_id=ends[1], has_more=page.has_more))


@router.get(
    _ONE,
    operation_id="get_vector_store",
    summary="Look at a vector store",
    response_model=VectorStore,
    responses=_RESPONSES,
)
async def get_vector_store(stores: StoresDep, caller: CallerDep, vector_store_id: StoreId) -> Response:
    """Show a store, and how many of its files can be found."""
    return _show(VectorStore.of(await stores.find(caller.tenant, vector_store_id)))


@router.post(
    _ONE,
    operation_id="update_vector_store",
    summary="Change a vector store",
    response_model=VectorStore,
    responses=_SENT,
    openapi_extra=_body(VectorStoreChange, name="handbook of 2026"),
)
async def update_vector_store(
    request: Request, parts: PartsDep, stores: StoresDep, caller: CallerDep, vector_store_id: StoreId
) -> Response:
    """Give a store another name or other metadata; what is left out stays."""
    wanted = await read_model(request, parts.bounds, VectorStoreChange)
    return _show(VectorStore.of(await stores.update(caller.tenant, vector_store_id, wanted.name, wanted.metadata)))


@router.delete(
    _ONE,
    operation_id="delete_vector_store",
    summary="Delete a vector store",
    response_model=DeletedVectorStore,
    responses=_RESPONSES,
)
async def delete_vector_store(stores: StoresDep, caller: CallerDep, vector_store_id: StoreId) -> Response:
    """Delete a store; the files that were in it are kept."""
    await stores.delete(caller.tenant, vector_store_id)
    return _show(DeletedVectorStore(id=vector_store_id))


@router.post(
    f"{_ONE}/search",
    operation_id="search_vector_store",
    summary="Find passages",
    response_model=VectorStoreSearchResults,
    responses=_SENT,
    openapi_extra=_body(VectorStoreSearch, query="how long is the warranty?", max_num_results=5),
)
async def search_vector_store(
    request: Request, parts: PartsDep, stores: StoresDep, caller: CallerDep, vector_store_id: StoreId
) -> Response:
    """Find passages in the files of a store, best first; nothing in a query is syntax."""
    wanted = await read_model(request, parts.bounds, VectorStoreSearch)
    await stores.find(caller.tenant, vector_store_id)
    asked = (wanted.queries, wanted.max_num_results, wanted.filters, [vector_store_id], wanted.weights)
    try:
        # Cancelled when the client leaves, so that its place in the database is free for others.
        found = await DisconnectListener(request.receive).over(stores.search(caller.tenant, *asked))
    except ToolException as error:
        said = {"loc": ["body", "filters"], "type": "filters", "msg": str(error)}
        raise InvalidParameter(str(error), errors=[said]) from None
    least = wanted.ranking_options.score_threshold
    return _show(VectorStoreSearchResults.of(wanted.queries, [it for it in found if it.score >= least]))


@router.post(
    f"{_ONE}/files",
    operation_id="create_vector_store_file",
    summary="Put a file into a vector store",
    response_model=VectorStoreFile,
    responses=_ADDED,
    openapi_extra=_body(NewVectorStoreFile, file_id="file-…", attributes={"year": 2026}),
)
async def create_vector_store_file(
    request: Request, parts: PartsDep, stores: StoresDep, caller: CallerDep, vector_store_id: StoreId
) -> Response:
    """Put a file into a store, where it is found from now on; one that is there is replaced.

    The answer comes when it has been read. One that has no text is there as `failed`, with the reason. While another
    request puts the same file there in the same way, the answer is how far that is.
    """
    wanted = await read_model(request, parts.bounds, NewVectorStoreFile)
    cut = choose_cut(wanted.chunking_strategy)
    added = await stores.add(caller.tenant, vector_store_id, wanted.file_id, wanted.attributes or {}, cut)
    return _show(VectorStoreFile.of(added))


@router.get(
    f"{_ONE}/files",
    operation_id="list_vector_store_files",
    summary="List the files of a vector store",
    response_model=VectorStoreFileListing,
    responses=_RESPONSES,
)
async def list_vector_store_files(
    stores: StoresDep,
    caller: CallerDep,
    vector_store_id: StoreId,
    choice: ChoiceDep,
    filter: Annotated[
        Literal["in_progress", "completed", "failed", "cancelled"] | None,
        Query(description="Only those of this state."),
    ] = None,
) -> Response:
    """List the files of a store."""
    page = await stores.list_members(caller.tenant, vector_store_id, choice, filter)
    shown = [VectorStoreFile.of(member) for member in page.items]
    ends = (shown[0].id, shown[-1].id) if shown else (None, None)
    return _show(VectorStoreFileListing(data=shown, first_id=ends[0], last_id=ends[1], has_more=page.has_more))


@router.get(
    f"{_ONE}/files/{{file_id}}",
    operation_id="get_vector_store_file",
    summary="Look at a file of a vector store",
    response_model=VectorStoreFile,
    responses=_RESPONSES,
)
async def get_vector_store_file(
    stores: StoresDep, caller: CallerDep, vector_store_id: StoreId, file_id: SentFileId
) -> Response:
    """Show whether a file can be found, and why not."""
    member: Member = await stores.find_member(caller.tenant, vector_store_id, file_id)
    return _show(VectorStoreFile.of(member))


@router.delete(
    f"{_ONE}/files/{{file_id}}",
    operation_id="delete_vector_store_file",
    summary="Take a file out of a vector store",
    response_model=DeletedVectorStoreFile,
    responses=_RESPONSES,
)
async def delete_vector_store_file(
    stores: StoresDep, caller: CallerDep, vector_store_id: StoreId, file_id: SentFileId
) -> Response:
    """Take a file out of a store; it is kept."""
    await stores.remove(caller.tenant, vector_store_id, file_id)
    return _show(DeletedVectorStoreFile(id=file_id))
