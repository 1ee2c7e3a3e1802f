"""Routes of the tools as operations of OpenAPI: the document, and one that runs a tool."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from sidecall.features.openapi_export.answers import answer_operation
from sidecall.features.openapi_export.document import DocumentOptions, DocumentReader, write_body, write_document
from sidecall.features.openapi_export.shortcuts import make_request
from sidecall.features.server_parts import PartsDep
from sidecall.http.answer_headers import CACHE, CACHE_CONTROL, DOCUMENTED
from sidecall.http.body import read_body
from sidecall.http.parameters import CallContextDep, CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.preferences import DOCUMENTED as PREFERENCES
from sidecall.http.preferences import PARAMETERS, REPLAYED, read_preferences
from sidecall.http.problems import Problem
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.rest.listings import Listing, make_listing
from sidecall.rest.openapi import CALLER_PROBLEM
from sidecall.rest.routes.tools import IfNoneMatch
from sidecall.rest.shortcuts import ShownContextDep
from sidecall.rest.tool_selection import Names, OfToolset, Tags, ToolChoice

router = APIRouter(tags=["tools"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

DocumentFor = Annotated[
    DocumentReader,
    Query(alias="for", description="Who reads it: `gpt-actions` has the short texts that ChatGPT demands."),
]
Refs = Annotated[
    bool,
    Query(description="`false` puts schemas of arguments and results in place, for clients that do not follow `$ref`."),
]
CalledTool = Annotated[str, Path(description="The tool's name.", openapi_examples={"tool": {"value": "calculator"}})]
_RETRY_AFTER = {"Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer"}}}
_LINK = {
    "Link": {
        "description": "Where the rest is: `title=whole` of an answer that was cut, `title=artifact` for the program.",
        "schema": {"type": "string"},
    }
}


@router.get(
    "/openapi/tools.json",
    operation_id="get_tools_document",
    summary="Describe the tools as an OpenAPI service",
    response_model=dict[str, Any],
    responses={
        200: {
            "description": "An OpenAPI 3.1 document with one operation for each tool that you may see.",
            "headers": {"ETag": {"description": "Changes when the document does.", "schema": {"type": "string"}}},
        },
        304: {"description": "You have this document already."},
        **CALLER_PROBLEM,
        404: {"model": Problem, "description": "There is no such toolset."},
        422: {"model": Problem, "description": "A parameter is wrong."},
    },
)
async def get_tools_document(  # noqa: PLR0913  each parameter is one of the request
    request: Request,
    parts: PartsDep,
    caller: CallerDep,
    context: ShownContextDep,
    reader: DocumentFor = "any",
    refs: Refs = True,
    tag: Tags = None,
    name: Names = None,
    toolset: OfToolset = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Describe each tool as an operation of its own, for Open WebUI, GPT Actions and generators of clients.

    `POST /tools/{name}/call` runs it: the body holds the arguments, and the answer is the plain result.
    """
    url = str(request.base_url).rstrip("/")
    key = b"%s %s" % (url.encode(), request.scope["query_string"])
    listing = parts.listings.pages.find(key, caller)
    if listing is None:
        version = parts.registry.version
        wanted = None if toolset is None else parts.toolsets.find(toolset)
        choice = ToolChoice("openai", False, tag, name, wanted)
        chosen = [tool for tool in await parts.pipeline.visible(caller, context) if choice.has(tool)]
        access = request.app.state.access
        title = "Sidecall tools" if toolset is None else f"Sidecall tools: {toolset}"
        look = DocumentOptions(url, title, () if access is None else access.proofs, reader, refs)
        write = partial(_write, chosen, look)
        listing = await parts.listings.pages.make(key, version, len(chosen), write, caller)
    return listing.reply_to(if_none_match).to_response()


def _write(tools: list[CompiledTool], look: DocumentOptions) -> Listing:
    return make_listing(write_body(write_document(tools, look)))


@router.post(
    "/tools/{name}/call",
    operation_id="call_tool",
    summary="Run a tool by its plain arguments",
    response_model=None,
    responses={
        200: {
            "description": "What the tool returned: a value as its return annotation says, else a text.",
            "content": {"application/json": {"schema": {}, "example": 42}},
            "headers": {**DOCUMENTED, **PREFERENCES, **CACHE, **_LINK},
        },
        202: {
            "model": Approval | CallEntry,
            "description": "The call waits for a person's approval, or goes on without you.",
            "headers": {
                **DOCUMENTED,
                **PREFERENCES,
                "Location": {"description": "Where to ask for it.", "schema": {"type": "string"}},
            },
        },
        400: {"model": Problem, "description": "The tool says that it cannot do this, or the body is not JSON."},
        403: {
            "model": Problem,
            "description": "A guardrail or a person refuses the call, or you may not make it.",
            "headers": REPLAYED,
        },
        404: {"model": Problem, "description": "There is no such tool."},
        409: {
            "model": Problem,
            "description": "The call was cancelled or not decided in time, or the tool has another contract.",
        },
        413: {"model": Problem, "description": "The body is larger than this server takes."},
        415: {"model": Problem, "description": "The body is not declared as JSON."},
        422: {"model": Problem, "description": "The arguments do not fit the tool, or something else is left out."},
        429: {
            "model": Problem,
            "description": "You run as many calls as one caller may, or have made as many as one may in this time.",
            "headers": {**DOCUMENTED, **_RETRY_AFTER},
        },
        500: {"model": Problem, "description": "The tool failed.", "headers": REPLAYED},
        503: {"model": Problem, "description": "There is no room for the call.", "headers": _RETRY_AFTER},
        504: {"model": Problem, "description": "The tool did not answer in time."},
    },
    openapi_extra={
        "requestBody": {
            "description": "The arguments by their names; a tool that takes none needs no body.",
            "content": {
                "application/json": {
                    "schema": {"type": "object"},
                }
            },
        },
        "parameters": [*PARAMETERS, CACHE_CONTROL],
    },
)
async def call_operation(
    request: Request,
    parts: PartsDep,
    about: CallContextDep,
    context: ShownContextDep,
    name: CalledTool,
) -> Response:
    """Run one call and answer with its result, for programs that call tools as operations of OpenAPI.

    A ToolMessage with `status: "error"` is a problem here: 422 for arguments that do not fit, 404 for a tool
    that is not there, 400 where the tool says no, 500 where it failed, 504 where it took too long. `detail` says how to
    mend it. All else is as with `POST /tool_calls`.
    """
    body = await read_body(request, parts.bounds)
    preferences = read_preferences(request.headers, parts.jobs.limits.wait)
    call = make_request(parts, name, body, about, context)
    return (await about.while_present(answer_operation(parts, request.scope, call, preferences))).to_response()
