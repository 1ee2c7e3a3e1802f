"""Fetch an OpenAPI document, and make tools of its operations: `from_openapi`."""

import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urljoin, urlsplit

import httpx
from pydantic import Field, PrivateAttr

from sidecall.authoring.base_tool import BaseTool
from sidecall.authoring.options import refuse_uncacheable
from sidecall.authoring.toolkit import BaseToolkit
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.compiler.foreign_patterns import bound_patterns
from sidecall.compiler.json_args_schema import JsonArgsSchema, compile_json_args_schema
from sidecall.features.openapi_import.definitions import Definitions, Unusable
from sidecall.features.openapi_import.operations import ApiOperation, OperationFilter, ToolNames, list_operations
from sidecall.features.openapi_import.planning import (
    ArgumentPlan,
    Auth,
    RequestPlan,
    check_auth,
    choose_credentials,
    plan_body,
    plan_parameters,
    refuse_unknown_schemes,
)
from sidecall.features.openapi_import.reading import InvalidDocument, read_document
from sidecall.features.openapi_import.requests import Destination, send_request
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption, ToolException
from sidecall.kernel.core.options import ToolAnnotations
from sidecall.kernel.core.tool import EMPTY, NAME, CompiledTool, Parameter, Schema
from sidecall.kernel.json_data.text import pause_collector
from sidecall.kernel.schema.references import map_children
from sidecall.outgoing.addresses import USUAL_PORTS
from sidecall.outgoing.bodies import AnswerBounds
from sidecall.outgoing.clients import open_client
from sidecall.outgoing.patterns import parse_hosts
from sidecall.outgoing.rules import OutgoingRules
from sidecall.outgoing.settings import OutgoingSettings

_SECRET = "_sidecall_credential_"  # noqa: S105  the beginning of a parameter's name
# OpenAI's limit for the description of a function.
_MOST_OF_TEXT = 1024
# Errors from values of types that a document should not have.
_MALFORMED = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

_DEPRECATED = "The service is going to give this operation up."

_IDEMPOTENT = ("get", "head", "put", "delete", "query")

_NO_TOOLS = ("options", "trace")

logger = logging.getLogger("sidecall")


class OpenAPITool(ForeignTool):
    """A tool that sends the request of one operation to another service."""

    _place: str = PrivateAttr(default="")
    # A copy with the same credentials; the two differ only in these options.
    _sibling: CompiledTool | None = PrivateAttr(default=None)

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool; errors name its operation."""
        alike, accepts = self._sibling, self._get_args_schema()
        is_usual = self.preview is None and not self.strict and NAME.fullmatch(self.name) is not None
        if alike is None or not is_usual or not isinstance(accepts, JsonArgsSchema):
            return replace(super().compiled, source=self._place)
        made = replace(
            alike,
            name=self.name,
            description=self.description,
            function=self._get_target(),
            args_schema=accepts,
            options=self._compile_options(),
            source=self._place,
        )
        refuse_uncacheable(made)
        return made


class OpenAPIToolkit(BaseToolkit):
    """The tools of one OpenAPI document, and what of it could not become one."""

    title: str
    skipped: dict[str, str] = Field(default_factory=dict)
    _tools: list[OpenAPITool] = PrivateAttr(default_factory=list)

    def get_tools(self) -> list[BaseTool]:
        """Return the tools in the order of the document."""
        return list(self._tools)


@dataclass(frozen=True, slots=True)
class ToolDefaults:
    """The options of all tools of a document; `origin` is the address that it came from."""

    where: str
    tag: str | None = None
    requires_approval: bool | str = False
    base_url: str | None = None
    origin: str | None = None
    auth: Auth = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_private: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


def from_openapi(  # noqa: PLR0913  what a caller may choose
    document: str | Path | Mapping[str, Any],
    *,
    name: str | None = None,
    base_url: str | None = None,
    auth: Auth = None,
    headers: Mapping[str, str] | None = None,
    operations: Sequence[str] = (),
    tags: Sequence[str] = (),
    paths: Sequence[str] = (),
    methods: Sequence[str] = (),
    without: Sequence[str] = (),
    requires_approval: bool | str = False,
    private: bool = False,
    **options: Any,
) -> OpenAPIToolkit:
    """Make a tool of each operation of an OpenAPI service; assign the result in your module to offer them.

    Args:
        document: The path of a document in JSON or YAML, or its content.
        name: The prefix of the tools' names, as `name__`, and a tag of each.
        base_url: The address of the service; None for the document's `servers`.
        auth: The credential of requests: a `Secret`, a `ForwardedHeader`, or several by the names of the document's
            security schemes.
        headers: Sent with each request.
        operations: Only operations of these ids; `*` matches any characters, here and below.
        tags: Only those with one of these tags.
        paths: Only those at these paths, as the document writes them.
        methods: Only those of these methods.
        without: Operations to leave out, by id.
        requires_approval: Whether a person approves each call; `"writing"`: of those that are not GET or HEAD.
        private: Whether the service may have an address that is not public.
        options: The other options of a tool, such as `timeout`, for each of them.

    Raises:
        DefinitionError: The document cannot be used, or none of its operations.
    """
    read, where = read_document(document)
    wanted = OperationFilter(operations, tags, paths, methods, without)
    choices = ToolDefaults(
        where,
        name,
        requires_approval,
        base_url,
        auth=check_auth(auth),
        headers=headers or {},
        is_private=private,
        options=options,
    )
    if not (isinstance(requires_approval, bool) or requires_approval == "writing"):
        raise InvalidToolOption('requires_approval is True, False or "writing".')
    return make_toolkit(read, choices, wanted)


def make_toolkit(document: dict[str, Any], choices: ToolDefaults, wanted: OperationFilter) -> OpenAPIToolkit:
    """Make the tools of a parsed document.

    Raises:
        DefinitionError: None of its operations can be a tool.
    """
    info = document.get("info")
    kit = OpenAPIToolkit(title=str(info.get("title", "")) if isinstance(info, dict) else "")
    definitions = Definitions(document)
    refuse_unknown_schemes(choices.where, choices.auth, _list_schemes(document, definitions))
    with pause_collector():
        operations = list(list_operations(document, definitions))
        for idle in wanted.list_idle(operations):
            logger.warning("%s has no %s, which its filters name", choices.where, idle)
        _fill_toolkit(kit, [it for it in operations if wanted.has(it)], document, definitions, choices)
    for label, reason in kit.skipped.items():
        logger.warning("%s: %s is no tool: %s", choices.where, label, reason)
    if not kit._tools:
        first = next(iter(kit.skipped.items()), None)
        why = "it has none that is wanted" if first is None else f"{first[0]}: {first[1]}"
        raise InvalidDocument(f"{choices.where} has no operation that can be a tool; {why}.")
    return kit


def _fill_toolkit(
    kit: OpenAPIToolkit,
    operations: list[ApiOperation],
    document: dict[str, Any],
    definitions: Definitions,
    choices: ToolDefaults,
) -> None:
    names, siblings = ToolNames(f"{choices.tag}__" if choices.tag else ""), dict[tuple[int, ...], CompiledTool]()
    for operation in operations:
        try:
            kit._tools.append(_make_tool(operation, document, definitions, names, choices, siblings))
        except (Unusable, DefinitionError) as error:
            kit.skipped[f"{operation.label} ({operation.id})"] = str(error)
        except _MALFORMED as error:
            reason = f"it is not written as OpenAPI has it: {type(error).__name__}: {error}"
            kit.skipped[f"{operation.label} ({operation.id})"] = reason[:_MOST_OF_TEXT]


def _make_tool(
    operation: ApiOperation,
    document: dict[str, Any],
    definitions: Definitions,
    names: ToolNames,
    choices: ToolDefaults,
    siblings: dict[tuple[int, ...], CompiledTool],
) -> OpenAPITool:
    if operation.method in _NO_TOOLS:
        raise Unusable(f"{operation.method.upper()} says something about requests, and is none for a model")
    sheet = ArgumentPlan(definitions)
    base = find_server(operation, document, choices.base_url, choices.origin)
    credentials = choose_credentials(
        choices.auth,
        operation.said.get("security", document.get("security")),
        _list_schemes(document, definitions),
    )
    plan = RequestPlan(
        operation.method.upper(),
        base.rstrip("/") + operation.path,
        plan_parameters(operation, sheet),
        plan_body(operation, sheet),
        credentials,
        {"Accept": "application/json, text/*;q=0.9, */*;q=0.5", **choices.headers},
    )
    name = names.choose(operation)
    where = f"{choices.where}, {operation.label}"
    accepts = _accept(where, sheet.write(), definitions)
    call = _make_call(plan, find_destination(base, is_private=choices.is_private))
    made = OpenAPITool.wrap(None, call, accepts, **_list_options(operation, choices, name))
    made._place = where
    alike = tuple(id(place.credential) for place in credentials)
    made._sibling = siblings.get(alike)
    siblings.setdefault(alike, made.compiled)  # What cannot be offered is found out here.
    return made


def _make_call(plan: RequestPlan, to: Destination) -> Any:
    async def call(**arguments: Any) -> Any:
        context = arguments.pop(CONTEXT)
        secrets = {index: arguments.pop(f"{_SECRET}{index}", "") for index in range(len(plan.credentials))}
        return await send_request(plan, to, arguments, secrets, context)

    kind = inspect.Parameter.KEYWORD_ONLY
    hidden = [
        Parameter(f"{_SECRET}{index}", kind, Annotated[str, place.marker], EMPTY)
        for index, place in enumerate(plan.credentials)
    ]
    return set_signature(call, hidden)


def _list_options(operation: ApiOperation, choices: ToolDefaults, name: str) -> dict[str, Any]:
    is_reading = operation.is_reading
    asks = choices.requires_approval
    tags = [*([choices.tag] if choices.tag else []), *operation.tags]
    return {
        "name": name,
        "description": _describe(operation),
        "tags": list(dict.fromkeys(tags)),
        "metadata": {
            "openapi": {"operation": operation.id, "method": operation.method.upper(), "path": operation.path}
        },
        "annotations": ToolAnnotations(
            read_only=is_reading,
            destructive=True if operation.method == "delete" else None,
            idempotent=True if operation.method in _IDEMPOTENT else None,
        ),
        "requires_approval": not is_reading if asks == "writing" else asks,
        **({"deprecated": _DEPRECATED} if operation.said.get("deprecated") is True else {}),
        **choices.options,
    }


def _describe(operation: ApiOperation) -> str:
    said = [operation.said.get(key) for key in ("summary", "description")]
    texts = [text.strip() for text in said if isinstance(text, str) and text.strip()]
    if len(texts) > 1 and texts[1].startswith(texts[0].rstrip(".")):
        texts = texts[1:]
    text = "\n\n".join(texts) or operation.label
    return text if len(text) <= _MOST_OF_TEXT else f"{text[: _MOST_OF_TEXT - 1].rpartition(' ')[0]}…"


def _accept(where: str, schema: Schema, definitions: Definitions) -> JsonArgsSchema:
    """Compile the schema of the arguments; patterns in another dialect are dropped."""
    takes = frozenset(schema["properties"])  # No other argument has a place in the request.
    try:
        made = compile_json_args_schema(where, schema, takes, definitions.targets)
    except DefinitionError:
        made = compile_json_args_schema(where, _drop_patterns(schema), takes)
    # A missing argument is left to the service's default.
    made, left = bound_patterns(replace(made, fills=False))
    if left:
        logger.info("%s: compared by the service alone: the patterns %s", where, left)
    return made


def _drop_patterns(schema: Schema) -> Schema:
    node = map_children(schema, _drop_patterns)
    return {key: value for key, value in node.items() if key not in ("pattern", "patternProperties")}


def _list_schemes(document: dict[str, Any], definitions: Definitions) -> dict[str, Any]:
    components = document.get("components")
    found = components.get("securitySchemes") if isinstance(components, dict) else None
    return {name: definitions.resolve(scheme) for name, scheme in found.items()} if isinstance(found, dict) else {}


def find_server(operation: ApiOperation, document: dict[str, Any], base_url: str | None, origin: str | None) -> str:
    """Return the base URL of an operation.

    Raises:
        Unusable: The document names none.
    """
    if base_url is not None:
        return _require_address(base_url)
    written = operation.said.get("servers") or operation.beside.get("servers") or document.get("servers")
    return _require_address(urljoin(origin or "", _fill_server(written) if written else "/"))


def _require_address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in USUAL_PORTS or not parts.hostname:
        raise Unusable("the document does not say where the service is; give base_url='https://…'")
    return url


def _fill_server(servers: Any) -> str:
    first = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], dict) else {}
    url = str(first.get("url", ""))
    variables = first.get("variables")
    for name, variable in variables.items() if isinstance(variables, dict) else ():
        url = url.replace(f"{{{name}}}", str(variable.get("default", "")) if isinstance(variable, dict) else "")
    return url


def find_destination(base: str, *, is_private: bool) -> Destination:
    """Return what the requests to an address may reach: its host alone."""
    parts = urlsplit(base)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    named = f"{host}:{parts.port or USUAL_PORTS[parts.scheme]}"
    return Destination(named, (named,) if is_private else ())


# Errors of an unavailable document.
FAILURES = (httpx.HTTPError, httpx.InvalidURL, ToolException)
# Bounds of one document: bytes, and seconds.
_BOUNDS = AnswerBounds(64 * 1024 * 1024, 30.0)


async def fetch_document(url: str, private: bool, bounds: AnswerBounds | None) -> tuple[bytes, str]:
    """Fetch a document, and return it with its final address.

    Args:
        url: Its address.
        private: Whether its host need not be a public one.
        bounds: Its bounds; None for the defaults.
    """
    settings = OutgoingSettings()
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    named = f"{host}:{parts.port or USUAL_PORTS[parts.scheme.lower()]}"
    private_hosts = (named,) if private else settings.outgoing_private_hosts
    rules = OutgoingRules(allow=parse_hosts((named,)), private=parse_hosts(private_hosts), ports=None)
    async with open_client(rules, bounds or _BOUNDS, settings.outgoing_proxy, follow_redirects=True) as client:
        response = await client.get(url, headers={"Accept": "application/json, application/yaml, */*"})
    response.raise_for_status()
    return response.content, str(response.url)
