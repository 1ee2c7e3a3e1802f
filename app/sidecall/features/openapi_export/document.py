"""Describe tools as operations of an OpenAPI service."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic.json_schema import models_json_schema
from pydantic_core import to_json

from sidecall.features.approvals.steps import may_ask
from sidecall.http.problems import MEDIA_TYPE, Problem
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.kernel.schema.references import list_schemas, map_children
from sidecall.rest.openapi import REF
from sidecall.rest.openapi_document import choose_schemes
from sidecall.rest.served_examples import make_arguments
from sidecall.version import __version__

_REF = "#/components/schemas/"

_HOLDERS = ("$defs", "definitions")

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


class SchemaComponents:
    """The schemas of one document, each under its own name."""

    def __init__(self, change: Callable[[Schema], Schema] | None = None, *, refs: bool = True) -> None:
        """Begin empty.

        Args:
            change: Rewrites each schema, but not those within it.
            refs: Whether schemas are referred to; otherwise they are written inline unless they are recursive.
        """
        self.schemas: dict[str, Any] = {}
        self.refs = refs
        self._change = change

    def add(self, name: str, schema: Schema) -> Schema:
        """Add a schema and those it refers to; return the schema or reference to use in its place."""
        root = self._reserve(name)
        places = {"#": _REF + root}
        for holder in _HOLDERS:
            for inner in schema.get(holder, {}):
                places[f"#/{holder}/{_escape(inner)}"] = _REF + self._reserve(f"{root}_{_UNFIT.sub('_', inner)}")
        for holder in _HOLDERS:
            for inner, definition in schema.get(holder, {}).items():
                reference = places[f"#/{holder}/{_escape(inner)}"]
                self.schemas[reference.removeprefix(_REF)] = self._rewrite(definition, places)
        body: Schema = self._rewrite({key: value for key, value in schema.items() if key not in _HOLDERS}, places)
        if self.refs or _is_root_meant(schema, places):
            self.schemas[root] = body
            return {"$ref": _REF + root}
        del self.schemas[root]
        return body

    def _reserve(self, name: str) -> str:
        """Keep a name, so that no other schema has it."""
        name = self._choose_name(name)
        self.schemas[name] = {}
        return name

    def _choose_name(self, name: str) -> str:
        number, found = 1, name
        while found in self.schemas:
            number += 1
            found = f"{name}_{number}"
        return found

    def _rewrite(self, schema: Any, places: dict[str, str]) -> Any:
        if not isinstance(schema, dict):
            return schema
        node = map_children(schema, lambda child: self._rewrite(child, places))
        if isinstance(node.get("$ref"), str):
            node["$ref"] = _move(node["$ref"], places)
        tag = node.get("discriminator")
        if isinstance(tag, dict) and isinstance(tag.get("mapping"), dict):
            mapping = {value: _move(reference, places) for value, reference in tag["mapping"].items()}
            node["discriminator"] = {**tag, "mapping": mapping}
        return node if self._change is None else self._change(node)


def _is_root_meant(schema: Schema, places: dict[str, str]) -> bool:
    """Return whether a schema refers to itself, or to a part of itself that is no definition."""
    root = places["#"]
    moved = [_move(node["$ref"], places) for node in list_schemas(schema) if isinstance(node.get("$ref"), str)]
    return any(it == root or it.startswith(f"{root}/") for it in moved)


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _move(reference: str, places: dict[str, str]) -> str:
    """Return the new target of a reference, by its longest known prefix."""
    beginning = reference
    while beginning and beginning not in places:
        beginning = beginning.rpartition("/")[0]
    return places[beginning] + reference[len(beginning) :] if beginning else reference


# The reader of the document: any program, or ChatGPT, which refuses long texts.
DocumentReader = Literal["any", "gpt-actions"]
# ChatGPT's limits: characters of an operation's texts, and of a parameter's.
_MOST_OF_OPERATION = 300

_MOST_OF_PARAMETER = 700

_MOST_OF_SUMMARY = 120

_DESCRIPTION = (
    "Tools that are run by Sidecall. The body of a request holds a tool's arguments; its answer is the result."
)

_STATUSES = {
    "400": "The tool says that it cannot do this, or the body is no JSON.",
    "403": "A guardrail or a person refuses it, or the caller may not.",
    "404": "There is no such tool, or it is not visible to you.",
    "422": "The arguments do not fit; `detail` says how to mend them.",
    "429": "The caller runs or has made as many calls as one may; `Retry-After`.",
    "500": "The tool failed.",
    "503": "There is no room for the call; `Retry-After`.",
    "504": "The tool did not answer in time.",
}


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The options of a document: the server's URL, the caller, and its form.

    `proofs` are the authentication methods. Without `refs` schemas are written inline; only recursive ones are still
    referred to.
    """

    url: str
    title: str = "Sidecall tools"
    proofs: Collection[str] = ()
    reader: DocumentReader = "any"
    refs: bool = True


def write_document(tools: Iterable[CompiledTool], look: DocumentOptions) -> dict[str, Any]:
    """Write the OpenAPI document of these tools, without those that a provider runs."""
    components = SchemaComponents(_shorten if look.reader == "gpt-actions" else None, refs=look.refs)
    components.schemas |= _describe_answers()
    offered = [tool for tool in tools if tool.declaration is None]
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": look.title, "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": look.url}],
        "paths": {f"/tools/{tool.name}/call": {"post": _describe(tool, components, look)} for tool in offered},
        "components": {"schemas": components.schemas, "responses": _RESPONSES},
    }
    schemes = choose_schemes(look.proofs)
    if schemes:
        document["security"] = [{name: []} for name in schemes]
        document["components"]["securitySchemes"] = schemes
    return document


def write_body(document: Any, depth: int = 3) -> bytes:
    """Write a document as JSON in pieces, since each blocks all other threads while it is written."""
    if depth == 0 or not isinstance(document, dict):
        return to_json(document)
    members = (to_json(name) + b":" + write_body(value, depth - 1) for name, value in document.items())
    return b"{" + b",".join(members) + b"}"


def _describe(tool: CompiledTool, components: SchemaComponents, look: DocumentOptions) -> dict[str, Any]:
    text = tool.description or f"Run {tool.name}."
    operation: dict[str, Any] = {
        "operationId": tool.name,
        "summary": _cut(text.partition("\n")[0], _MOST_OF_SUMMARY),
        "description": _cut(text, _MOST_OF_OPERATION) if look.reader == "gpt-actions" else text,
        "x-openai-isConsequential": tool.options.annotations.read_only is not True,
    }
    if tool.options.tags:
        operation["tags"] = list(tool.options.tags)
    if tool.args_schema.flat.get("properties") or tool.args_schema.flat.get("additionalProperties"):
        operation["requestBody"] = _describe_body(tool, components)
    result = tool.output_schema
    schema = _describe_text(tool) if result is None or tool.reads_dicts else _add_result(tool, result, components)
    answers: dict[str, Any] = {
        "200": {"description": "What the tool returned.", "content": {"application/json": {"schema": schema}}},
        **({"202": {"$ref": "#/components/responses/Accepted"}} if tool.options.background or may_ask(tool) else {}),
    }
    answers |= {status: {"$ref": f"#/components/responses/Problem{status}"} for status in _STATUSES}
    return {**operation, "responses": answers}


def _describe_text(tool: CompiledTool) -> Schema:
    """Describe the result of a tool without an output schema; another server may send a value all the same."""
    return {} if tool.says_values else {"type": "string"}


def _describe_body(tool: CompiledTool, components: SchemaComponents) -> dict[str, Any]:
    schema = tool.args_schema.json_schema
    whole = schema if components.refs and schema.get("type") == "object" else tool.args_schema.flat
    content: dict[str, Any] = {"schema": components.add(f"{tool.name}_arguments", whole)}
    # What refers to itself cannot be made up from its references alone.
    sample = None if "$defs" in tool.args_schema.flat else make_arguments(tool)
    if sample:
        content["example"] = sample
    return {"required": bool(tool.args_schema.flat.get("required")), "content": {"application/json": content}}


def _add_result(tool: CompiledTool, schema: Schema, components: SchemaComponents) -> Schema:
    is_simple = not schema.keys() & {"properties", "$defs", "definitions", "$ref"}
    return schema if is_simple else components.add(f"{tool.name}_result", schema)


def _describe_answers() -> dict[str, Any]:
    """Describe the answers of every operation besides its result."""
    _, found = models_json_schema(
        [(model, "serialization") for model in (Problem, Approval, CallEntry)], ref_template=REF
    )
    schemas: dict[str, Any] = found["$defs"]
    return schemas


def _refer(*models: type) -> Schema:
    references = [{"$ref": REF.format(model=model.__name__)} for model in models]
    return references[0] if len(references) == 1 else {"anyOf": references}


_RESPONSES: dict[str, Any] = {
    "Accepted": {
        "description": "The call waits for a person's approval, or goes on without you; `Location` is where to ask.",
        "headers": {"Location": {"description": "Where to ask for it.", "schema": {"type": "string"}}},
        "content": {"application/json": {"schema": _refer(Approval, CallEntry)}},
    },
    **{
        f"Problem{status}": {"description": text, "content": {MEDIA_TYPE: {"schema": _refer(Problem)}}}
        for status, text in _STATUSES.items()
    },
}


def _shorten(schema: Schema) -> Schema:
    """Cut the description of a parameter, and list the properties of objects, as ChatGPT needs it."""
    node = dict(schema)
    if isinstance(node.get("description"), str):
        node["description"] = _cut(node["description"], _MOST_OF_PARAMETER)
    if node.get("type") == "object":
        node.setdefault("properties", {})
    return node


def _cut(text: str, most: int) -> str:
    """Cut a text between two words."""
    if len(text) <= most:
        return text
    head, space, _ = text[:most].rpartition(" ")
    return f"{(head if space else text)[: most - 1].rstrip()}…"
