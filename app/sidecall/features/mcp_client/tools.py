"""Make a tool of ours of one that an MCP server lists."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any
from urllib.parse import urlsplit

from sidecall.compat.foreign.tool import CONTEXT, set_signature
from sidecall.compiler.author_mistakes import locate_fault
from sidecall.compiler.compile import DescriptionTexts, compile_tool
from sidecall.compiler.foreign_patterns import bound_patterns
from sidecall.compiler.json_args_schema import JsonArgsSchema, strip_titles
from sidecall.compiler.normalize import normalize_schema
from sidecall.compiler.output_schema import Structure
from sidecall.compiler.pattern_places import leave_patterns
from sidecall.compiler.schema_documents import SchemaUnfit
from sidecall.features.mcp_client.link import ListedTool, RemoteAnswer
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import DefinitionError, SchemaInferenceError, ToolException
from sidecall.kernel.core.injection import FromFunction, Secret
from sidecall.kernel.core.messages import ContentBlock, ToolMessage, ValuedBlocks, ValuedText, name_origin
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.tool import CompiledTool, Parameter
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.schema.forms.mcp_param_headers import drop_headers
from sidecall.kernel.schema.references import inline_references

logger = logging.getLogger("sidecall")

# Parameters that neither the model nor the caller fills.
_SECRET = "_sidecall_secret_"  # noqa: S105  a name

_HEADERS = "_sidecall_headers"
# Blocks of an answer that are read while others wait.
_FEW_BLOCKS = 200

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
    accepted, left = bound_patterns(replace(made.args_schema, guards=1, fills=False))
    if left:
        logger.info("%s: tool %r: compared by its server alone: the patterns %s", source, listed.name, left)
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
        # Its answer is passed on even if it does not fit, so that no pattern is worth the time.
        results = Structure(leave_patterns(shown, lambda _: True))
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
        answer = await call(name, arguments, context, sent)
        is_short = len(answer.blocks) <= _FEW_BLOCKS
        return read_remote_answer(answer) if is_short else await RESULTS.run(read_remote_answer, answer)

    hidden = [
        _hide(parameter, Annotated[str | None, Secret(secret, "caller")], None) for parameter, secret in secrets.items()
    ]
    if wanted:
        hidden.append(_hide(_HEADERS, Annotated[Any, FromFunction(wanted.pick)]))
    return set_signature(run, hidden)


def _hide(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> Parameter:
    return Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation, default)


# The program gets these values; the model reads links' names and addresses, and values as text.
_VALUE = "structured_content"

_LINKS = "resource_links"

Wire = Mapping[str, Any]


def read_remote_answer(answer: RemoteAnswer) -> tuple[Any, Any]:
    """Return the content and artifact of an answer; for a failure with more than text, a message.

    Raises:
        ToolException: The call failed; the model reads the server's text.
    """
    blocks = [_write_block(block) for block in answer.blocks]
    content, artifact = _make_content(blocks, answer), _make_artifact(answer)
    if not answer.is_error:
        return content, artifact
    if artifact is None and (not blocks or isinstance(content, str)):
        raise ToolException(content or "Error: the call failed, and its server does not say why.")
    # Without validation, which would turn blocks into a plain list and lose the value.
    failed = ToolMessage.model_construct(content=content, tool_call_id="", status="error", artifact=artifact)
    return failed, artifact


def _make_content(blocks: list[ContentBlock], answer: RemoteAnswer) -> Any:
    """Make what the model reads, with the value that programs get in its place."""
    if not blocks and answer.has_value:
        return ValuedText(to_text(answer.value), answer.value)
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        text = _join_texts(blocks)
        return ValuedText(text, answer.value) if answer.has_value else text
    return ValuedBlocks(blocks, answer.value) if answer.has_value else blocks


def _make_artifact(answer: RemoteAnswer) -> Any:
    """Make the artifact: another Sidecall's as it is; of other servers structured values and links."""
    if answer.artifact is not None:
        return answer.artifact
    links = [dict(block) for block in answer.blocks if block.get("type") == "resource_link"]
    artifact: dict[str, Any] = {_VALUE: answer.value} if answer.has_value else {}
    return {**artifact, _LINKS: links} if links else artifact or None


def _join_texts(blocks: Iterable[ContentBlock]) -> str:
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _write_block(block: Wire) -> ContentBlock:
    kind = block.get("type")
    if kind == "text":
        return {**_write_text(block["text"]), **_read_extras(block, "text")}
    if kind in ("image", "audio"):
        return {**_write_media(block["mimeType"], block["data"]), **_read_extras(block, "data", "mimeType")}
    if kind == "resource_link":
        return {**_write_text(_describe_link(block)), **name_origin(block)}
    if kind == "resource":
        return _write_resource(block)
    return _write_text(f"[a block of the type {kind}]")


def _write_text(text: str) -> ContentBlock:
    return {"type": "text", "text": text}


def _write_media(media_type: str, data: str, filename: str | None = None) -> ContentBlock:
    # LangChain's messages have a block for images and files, and for audio only within a file.
    kind = "image" if media_type.startswith("image/") else "file"
    named = {"filename": filename} if filename else {}
    return {"type": kind, "base64": data, "mime_type": media_type, **named}


def _describe_link(link: Wire) -> str:
    said = link.get("description") or ""
    return f"[resource {link.get('title') or link.get('name')}: {link.get('uri')}]{' ' if said else ''}{said}"


def _read_extras(block: Wire, *written: str) -> dict[str, Any]:
    """Return the fields of a block besides its content, such as annotations; most have none."""
    beside = {key: value for key, value in block.items() if key not in written}
    return name_origin(beside) if len(beside) > 1 else {}


def _write_resource(block: Wire) -> ContentBlock:
    # The content block already has its text or data.
    resource: Wire = block["resource"]
    named = {key: value for key, value in resource.items() if key not in ("text", "blob")}
    origin = name_origin({**block, "resource": named})
    if "text" in resource:
        return {**_write_text(resource["text"]), **origin}
    name = urlsplit(str(resource.get("uri", ""))).path.rpartition("/")[2]
    return {**_write_media(resource.get("mimeType") or "application/octet-stream", resource["blob"], name), **origin}
