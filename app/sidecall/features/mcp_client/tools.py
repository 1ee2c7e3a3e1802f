"""Make a tool of ours of one that an MCP server lists."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from sidecall.compat.foreign.tool import CONTEXT, set_signature
from sidecall.features.mcp_client.answers import read_remote_answer
from sidecall.features.mcp_client.entries import UpstreamEntry
from sidecall.features.mcp_client.link import RemoteAnswer
from sidecall.features.mcp_client.listed import ListedTool
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import DefinitionError, SchemaInferenceError
from sidecall.kernel.core.injection import FromFunction, Secret
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.parameter import Parameter
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.authored.faults import locate_fault
from sidecall.kernel.schema.by_json_schema import JsonArgsSchema
from sidecall.kernel.schema.compile import DescriptionTexts, compile_tool
from sidecall.kernel.schema.forms.mirrored import drop_headers
from sidecall.kernel.schema.forms.structured import Structure
from sidecall.kernel.schema.normal.documents import SchemaUnfit
from sidecall.kernel.schema.normal.normalize import normalize_schema
from sidecall.kernel.schema.references import inline_references
from sidecall.kernel.schema.shape import strip_titles

logger = logging.getLogger("sidecall")

# Parameters that neither the model nor the caller fills.
_SECRET = "_sidecall_secret_"  # noqa: S105  a name
_HEADERS = "_sidecall_headers"

# Calls a tool of a server: its name there, the arguments, the context, and headers for this call only.
CallRemote = Callable[[str, Mapping[str, Any], ToolContext, Mapping[str, str]], Awaitable[RemoteAnswer]]


def make_remote_tool(
    server: str, entry: UpstreamEntry, listed: ListedTool, name: str, call: CallRemote
) -> CompiledTool:
    """Make the tool.

    Args:
        server: The name of the server.
        entry: The server's configuration.
        listed: The tool as the server lists it.
        name: Its name here.
        call: Calls it.

    Raises:
        DefinitionError: The tool cannot be offered.
    """
    source = f"MCP server {server}"
    function = _make_function(entry, listed.name, call)
    try:
        schema = drop_headers(normalize_schema(listed.input_schema))
        made = compile_tool(
            function,
            _choose_options(server, entry, listed),
            name=name,
            texts=DescriptionTexts(description=listed.description),
            args_schema=schema,
        )
    except DefinitionError:
        raise
    except SchemaUnfit as error:
        raise SchemaInferenceError(f"{source}: tool {listed.name!r}: its inputSchema: {error}") from error
    except Exception as error:  # Any other defect of a schema.
        raise SchemaInferenceError(f"{source}: tool {listed.name!r}: its schema is none: {error}") from error
    assert isinstance(made.args_schema, JsonArgsSchema)
    # Unknown arguments go to the server, which may ignore them. Defaults are the server's.
    accepted = replace(made.args_schema, guards=1, fills=False)
    return _add_structure(replace(made, source=source, says_values=True, args_schema=accepted), listed)


def _choose_options(server: str, entry: UpstreamEntry, listed: ListedTool) -> ToolOptions:
    return ToolOptions(
        response_format="content_and_artifact",
        tags=(f"mcp:{server}", *entry.tags),
        metadata={"mcp_server": server, "mcp_tool": listed.name} | _name_title(listed),
        timeout=entry.timeout,
        annotations=listed.annotations,
        requires_approval=entry.asks(listed.name),
    )


def _name_title(listed: ListedTool) -> dict[str, Any]:
    return {} if listed.title is None else {"mcp_title": listed.title}


def _add_structure(tool: CompiledTool, listed: ListedTool) -> CompiledTool:
    """Add what the results look like, where their schema is one."""
    if listed.output_schema is None:
        return tool
    try:
        shown = inline_references(strip_titles(normalize_schema(listed.output_schema)))
        results = Structure(shown)
        results.compile()
    except Exception as error:  # An invalid output schema is dropped; the text is still there.
        said = "%s: tool %r is offered without its outputSchema: %s"
        logger.warning(said, tool.source, listed.name, locate_fault(error))
        return tool
    return replace(tool, output_schema=shown, results=results)


def _make_function(entry: UpstreamEntry, name: str, call: CallRemote) -> Callable[..., Any]:
    wanted = entry.caller_headers
    secrets = {f"{_SECRET}{number}": secret for number, secret in enumerate(wanted.secrets)}

    async def run(**arguments: Any) -> Any:
        context: ToolContext = arguments.pop(CONTEXT)
        kept = {secret: arguments.pop(parameter, None) for parameter, secret in secrets.items()}
        sent = wanted.fill(kept, arguments.pop(_HEADERS)) if wanted else {}
        return read_remote_answer(await call(name, arguments, context, sent))

    hidden = [
        _hide(parameter, Annotated[str | None, Secret(secret, "caller")], None) for parameter, secret in secrets.items()
    ]
    if wanted:
        hidden.append(_hide(_HEADERS, Annotated[Any, FromFunction(wanted.pick)]))
    return set_signature(run, hidden)


def _hide(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Parameter:
    return Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation, default)
