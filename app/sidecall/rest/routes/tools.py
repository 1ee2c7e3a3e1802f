"""List the tools, in the form each provider takes."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json

from sidecall.http.parameters import CallerDep, LateRoute, keep_query, refuse_unknown_parameters, write_link
from sidecall.http.problems import Problem
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import UnknownTool, cut_name
from sidecall.kernel.core.injection import InjectedParameter
from sidecall.kernel.core.options import Cache, ToolAnnotations, ToolOptions
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.approvals.questions import asks_inside
from sidecall.kernel.ports.sandbox_status import SandboxStatus, show_sandbox
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.forms.definitions import hash_definition, render_definition
from sidecall.kernel.schema.forms.strict import find_strict_obstacles
from sidecall.rest.examples import LISTING
from sidecall.rest.listings import Listing, make_listing
from sidecall.rest.openapi import CALLER_PROBLEM
from sidecall.rest.parts import Parts, PartsDep
from sidecall.rest.shortcuts import ShownContextDep
from sidecall.rest.tool_selection import (
    LISTINGS,
    Format,
    Hosted,
    Names,
    OfToolset,
    Stretch,
    Strict,
    Tags,
    ToolChoice,
    read_stretch,
    write_page,
)

router = APIRouter(tags=["tools"], dependencies=[Depends(refuse_unknown_parameters)], route_class=LateRoute)

StretchDep = Annotated[Stretch, Depends(read_stretch)]
ToolName = Annotated[str, Path(description="The tool's name.", openapi_examples={"tool": {"value": "calculator"}})]
IfNoneMatch = Annotated[str | None, Header(description="The ETag of the listing you have.")]


class ToolDetail(BaseModel, defer_build=True):
    """Everything about one tool."""

    name: str
    description: str
    definition: dict[str, Any] = Field(description="The OpenAI function definition; of a hosted tool OpenAI's own.")
    args_schema: dict[str, Any] = Field(description="JSON Schema of the arguments, with `$defs`.")
    output_schema: dict[str, Any] | None = Field(description="JSON Schema of the result, from the return annotation.")
    tags: list[str]
    metadata: dict[str, Any]
    annotations: ToolAnnotations
    extras: dict[str, Any] = Field(description="Hints of the tool's author for a provider.")
    return_direct: bool
    response_format: str
    scopes: list[str] = Field(description="What a caller needs to see and call it.")
    timeout: float | None = Field(description="Seconds; null means the server's default.")
    executor: str = Field(description="`fleet`: workers of its `queue` run it.")
    queue: str | None = Field(description="Whose workers run it; null where this server does.")
    available: bool = Field(description="Whether a worker is there that has it; true where this server runs it.")
    timeout_behavior: str = Field(description="`raise`: the request fails with 500 when the time is up.")
    requires_approval: bool | None = Field(description="Whether a person approves each call; null: it depends.")
    has_preview: bool = Field(description="Whether a dry run, and who approves a call, are told what it would do.")
    reads_state: bool = Field(description="Whether it may read the `state` beside a call; else none has to be sent.")
    injected: list[InjectedParameter] = Field(description="What it is given beside its arguments, and by whom.")
    cache: Cache | None = Field(description="For how many seconds an answer is given again, and to whom.")
    unknown_args: str = Field(description="What happens to an argument that no parameter takes.")
    hash: str = Field(description="SHA-256 of the definition; it changes when the contract does.")
    strict: bool = Field(description="Whether the definition can be said in OpenAI's strict form.")
    strict_obstacles: list[str] = Field(description="Why it cannot.")
    deprecated: str | None = Field(description="What to use in its place.")
    hosted: bool = Field(description="Whether the model's provider runs it; it is declared here, and cannot be called.")
    notes: list[str] = Field(description="What `sidecall check` says about it.")
    sandbox: SandboxStatus | None = Field(description="The sandbox that it needs, as it was tried; null: none.")


@router.get(
    "/tools",
    operation_id="list_tools",
    summary="List the tools",
    response_model=list[dict[str, Any]],
    responses={
        200: {
            "description": "A bare array, to be passed to the provider's client as `tools`.",
            "content": {"application/json": {"examples": LISTING}},
            "headers": {
                "ETag": {"description": "Changes when the listing does.", "schema": {"type": "string"}},
                "Link": {
                    "description": 'With `limit`: the next page, with `rel="next"`.',
                    "schema": {"type": "string"},
                },
            },
        },
        304: {"description": "You have this listing already."},
        **CALLER_PROBLEM,
        404: {"model": Problem, "description": "There is no such toolset."},
        422: {"model": Problem, "description": "A parameter is wrong."},
    },
)
async def list_tools(  # noqa: PLR0913  each parameter is one of the request
    request: Request,
    parts: PartsDep,
    caller: CallerDep,
    context: ShownContextDep,
    stretch: StretchDep,
    format: Format = "openai",
    strict: Strict = False,
    tag: Tags = None,
    name: Names = None,
    toolset: OfToolset = None,
    hosted: Hosted = "keep",
    if_none_match: IfNoneMatch = None,
) -> Response:
    """List the tools in the order they were registered.

    The array is what the provider's client takes as `tools` as it stands; for Gemini its first element holds all
    `functionDeclarations`. Tools that their provider runs are in the forms that have room for them, and tools that
    implement what it has of its own are declared as that, unless `hosted=replace`. Send the `ETag` back as
    `If-None-Match` to be told 304 while nothing has changed. With `limit` the list comes in pages; the header `Link`
    leads to the next one.
    """
    query = request.scope["query_string"]
    listing = parts.listings.pages.find(query, caller)
    if listing is None:
        version = parts.registry.version
        wanted = None if toolset is None else parts.find_toolset(toolset)
        seen = await parts.pipeline.visible(caller, context)
        choice = ToolChoice(format, strict, tag, name, wanted, hosted)
        write = partial(_write, request, seen, choice, stretch, parts.registry)
        listing = await parts.listings.pages.make(query, version, len(seen), write, caller)
    return listing.reply_to(if_none_match).to_response()


def _write(
    request: Request, tools: list[CompiledTool], choice: ToolChoice, stretch: Stretch, registry: Registry
) -> Listing:
    definitions, cursor = write_page(tools, choice, stretch, registry)
    link = None if cursor is None else write_link("/tools", keep_query(request, cursor))
    return make_listing(to_json(definitions), link)


@router.get(
    "/tools/{name}",
    operation_id="get_tool",
    summary="Show one tool",
    response_model=ToolDetail,
    responses={
        200: {"headers": {"ETag": {"description": "Changes when the tool does.", "schema": {"type": "string"}}}},
        304: {"description": "You have this already."},
        **CALLER_PROBLEM,
        404: {"model": Problem, "description": "There is no such tool."},
    },
)
async def get_tool(
    parts: PartsDep, caller: CallerDep, context: ShownContextDep, name: ToolName, if_none_match: IfNoneMatch = None
) -> Response:
    """Show everything about one tool, with what `sidecall check` has to say about it."""
    version = parts.registry.version
    tools = {tool.name: tool for tool in await parts.pipeline.visible(caller, context)}
    tool = tools.get(name)
    if tool is None:
        listing = await parts.pipeline.gate.missing.list_for(caller, context)
        raise UnknownTool(_unknown(name, listing.choices.find_nearest(name)))
    shown = await show_sandbox(parts.pipeline.services.resources.sandbox, tool.sandbox_use)
    injected = await _list_injected(parts, caller, tool)
    detail = make_listing(to_json(_detail(tool, shown, injected), by_alias=True))
    # What is shown of a sandbox may change, and so may what is set.
    if tool.sandbox_use is None and not {it.source for it in injected} & {"secret", "token"}:
        parts.listings.details.keep(name.encode(), detail, version, caller)
    return detail.reply_to(if_none_match).to_response()


async def _list_injected(parts: Parts, caller: Caller, tool: CompiledTool) -> list[InjectedParameter]:
    """Describe what a tool is given, and whether this caller has the secrets and tokens of it."""
    injected = tool.describe_injected()
    sources = {it.source for it in injected}
    own = await parts.list_secrets(caller) if "secret" in sources else None
    marked = [it.mark(own, parts.pipeline.services.resources.secrets) for it in injected]
    tokens = await parts.list_tokens(caller) if "token" in sources else None
    if tokens is None:
        return marked
    return [it if it.source != "token" else it.model_copy(update={"is_set": it.path in tokens}) for it in marked]


def _unknown(name: str, alike: list[str]) -> str:
    hint = f" Did you mean {' or '.join(alike)}?" if alike else ""
    return f"There is no tool {cut_name(name)!r}, or it is not visible to you.{hint} GET /tools lists the tools."


def _detail(tool: CompiledTool, sandbox: SandboxStatus | None, injected: list[InjectedParameter]) -> ToolDetail:
    obstacles = find_strict_obstacles(tool.args_schema.flat)
    return ToolDetail(
        name=tool.name,
        description=tool.description,
        definition=render_definition(tool),
        args_schema=tool.args_schema.json_schema,
        output_schema=tool.output_schema,
        **_copy_labels(tool.options),
        return_direct=tool.options.return_direct,
        response_format=tool.options.response_format,
        scopes=list(tool.options.scopes),
        timeout=tool.options.timeout,
        executor=tool.executor,
        queue=tool.options.queue if tool.executor == "fleet" else None,
        available=tool.is_available,
        timeout_behavior=tool.options.timeout_behavior,
        requires_approval=_find_approval(tool),
        has_preview=tool.preview is not None,
        reads_state=tool.reads_state,
        injected=injected,
        cache=tool.options.cache,
        unknown_args=tool.options.unknown_args or "ignore",
        hash=hash_definition(tool),
        strict=not obstacles,
        strict_obstacles=obstacles,
        deprecated=tool.options.deprecated,
        hosted=tool.declaration is not None,
        notes=[f"{finding.level}: {finding.message}" for finding in LISTINGS.lint_tool(tool)],
        sandbox=sandbox,
    )


def _copy_labels(options: ToolOptions) -> dict[str, Any]:
    return {
        "tags": list(options.tags),
        "metadata": dict(options.metadata),
        "annotations": options.annotations,
        "extras": dict(options.extras),
    }


def _find_approval(tool: CompiledTool) -> bool | None:
    policy = tool.options.requires_approval
    if not isinstance(policy, bool):
        return None
    # It finds out while it runs.
    return None if not policy and asks_inside(tool.function) else policy
