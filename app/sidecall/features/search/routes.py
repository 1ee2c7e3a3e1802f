"""Find tools by what they are about."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic_core import to_json

from sidecall.features.search.index import MOST_OF_QUERY, BadPattern
from sidecall.features.search.search_tool import SearchMode, find_tools
from sidecall.features.server_parts import PartsDep
from sidecall.http.parameters import WHOLE_NUMBER, CallerDep, LateRoute, refuse_unknown_parameters
from sidecall.http.problems import Problem
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import TOOL_SEARCH
from sidecall.kernel.core.errors import InvalidParameter
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import render_definitions
from sidecall.rest.examples import LISTING
from sidecall.rest.openapi import CALLER_PROBLEM
from sidecall.rest.routes.tools import ToolDetail, get_tool
from sidecall.rest.shortcuts import ShownContextDep
from sidecall.rest.tool_selection import Format, Names, OfToolset, Strict, Tags, ToolChoice

router = APIRouter(tags=["tools"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

Question = Annotated[
    str | None,
    Query(
        alias="q",
        min_length=1,
        max_length=MOST_OF_QUERY,
        description="What the tools should do; without it this is the tool named `search`.",
        openapi_examples={"words": {"value": "arithmetic"}},
    ),
]
MostFound = Annotated[int, Query(ge=1, le=100, description="The most tools to be found."), WHOLE_NUMBER]
Mode = Annotated[
    SearchMode, Query(description="How the question is put: in words, or as a regular expression (Rust's).")
]


def _choose(
    parts: PartsDep,
    format: Format = "openai",
    strict: Strict = False,
    tag: Tags = None,
    name: Names = None,
    toolset: OfToolset = None,
) -> ToolChoice:
    return ToolChoice(format, strict, tag, name, None if toolset is None else parts.toolsets.find(toolset))


# Before the route of one tool, which would take it for a name.
@router.get(
    "/tools/search",
    operation_id="search_tools",
    summary="Find tools",
    response_model=None,
    responses={
        200: {
            "model": list[dict[str, Any]] | ToolDetail,
            "description": "Definitions, the best one first, to be passed to the provider's client as `tools`.",
            "content": {"application/json": {"examples": LISTING}},
        },
        **CALLER_PROBLEM,
        404: {"model": Problem, "description": "There is no such toolset, or no tool of that name."},
        422: {"model": Problem, "description": "A parameter is wrong."},
    },
)
async def search_tools(  # noqa: PLR0913  each parameter is one of the request
    parts: PartsDep,
    caller: CallerDep,
    context: ShownContextDep,
    choice: Annotated[ToolChoice, Depends(_choose)],
    q: Question = None,
    limit: MostFound = 5,
    mode: Mode = "bm25",
) -> Response:
    """Find tools by words of their names, descriptions, tags and parameters.

    Only tools that the caller may see are found. Words match in all their English forms; one that no tool has matches
    those that begin with it.
    """
    if q is None:
        return await get_tool(parts, caller, context, "search")
    try:
        found = await find_tools(parts.registry, caller, context, q, mode)
    except BadPattern as error:
        raise InvalidParameter(f"q: {error}") from None
    chosen = [tool for tool in found if choice.has(tool)][:limit]
    body = await TOOL_SEARCH.run_for(key_of(caller), _write, chosen, choice)
    return Response(body, media_type="application/json")


def _write(tools: list[CompiledTool], choice: ToolChoice) -> bytes:
    return to_json(render_definitions(tools, choice.form, strict=choice.strict))
