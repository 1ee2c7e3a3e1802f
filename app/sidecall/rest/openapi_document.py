"""Make the OpenAPI document, with schemas for requests that are read as bytes; loaded at its first request."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from sidecall.http.problems import Problem
from sidecall.lazy_imports import load_function
from sidecall.rest.dialect_models import (
    AnthropicToolUse,
    Batch,
    GeminiFunctionCallPart,
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
    SaidMessage,
)
from sidecall.rest.examples import ANSWERS, APPROVAL
from sidecall.rest.native_calls.call_models import ITEM_CALLS
from sidecall.rest.openapi import REF, refer_to
from sidecall.rest.served_examples import show_served as show_served

# Finds the scope that a request takes, by its method and path.
FindScope = Callable[[str, str], str | None]

_SCHEMES: dict[str, dict[str, Any]] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key that `sidecall keys new` has made, or a token, where the server takes them.",
    },
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "A key, in a header of its own."},
}


# What each way of proving takes; a gateway proves it by headers that callers do not send.
_SCHEMES_OF = {"api_key": ("bearer", "apiKey"), "jwt": ("bearer",)}


def choose_schemes(proofs: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the schemes of the accepted credentials."""
    wanted = {name for proof in proofs for name in _SCHEMES_OF.get(proof, ())}
    return {name: scheme for name, scheme in _SCHEMES.items() if name in wanted}


def add_security(document: dict[str, Any], is_open: Callable[[str], bool], find_scope: FindScope | None) -> None:
    """Add the credentials and the scope of each operation.

    Args:
        document: The OpenAPI document, which is changed.
        is_open: Returns whether a path is served to everybody.
        find_scope: Finds what each takes; None where callers need not prove who they are, and there is nothing to name.
    """
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if is_open(path):
                operation["responses"].pop("401", None)
            if find_scope is not None:
                operation["security"] = [] if is_open(path) else _list_credentials(find_scope, method, path)
    if find_scope is not None:
        document["components"]["securitySchemes"] = _SCHEMES


def _list_credentials(find_scope: FindScope, method: str, path: str) -> list[dict[str, list[str]]]:
    # As one call or one approval is asked for.
    scope = find_scope(method.upper(), path)
    return [{name: [] if scope is None else [scope]} for name in _SCHEMES]


_REQUEST_MODELS: list[type[BaseModel]] = [
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
    AnthropicToolUse,
    GeminiFunctionCallPart,
    *ITEM_CALLS,
    Batch,
    SaidMessage,
]

_PAGE_PROBLEMS = {
    "401": "It does not prove who sends it, where this server wants that.",
    "403": "The caller lacks the scope for it, or a web page sends it that may not use this server.",
    "421": "The server is not known by the name in `Host`.",
}

_EXAMPLES = ANSWERS | APPROVAL


def make_document(
    app: FastAPI,
    probes: Collection[str],
    is_open: Callable[[str], bool],
    find_scope: FindScope | None,
    forms: Iterable[str] = (),
) -> dict[str, Any]:
    """Make the OpenAPI document of an application, with all request models and problems in their own media type.

    Args:
        app: The application.
        probes: The paths that are served under every name, and to every web page.
        is_open: Tells whether a path is for everybody.
        find_scope: Finds the scope of a request where callers prove who they are; None where they do not.
        forms: Models of bodies that the routes of features read themselves, as `package.module:name` of one or of many.
    """
    document = _describe(app, [*_REQUEST_MODELS, *_load_forms(forms)])
    _correct(document["paths"], _EXAMPLES, probes)
    add_security(document, is_open, find_scope)
    return document


def _load_forms(forms: Iterable[str]) -> Iterator[type[BaseModel]]:
    for form in forms:
        found = load_function(form)
        yield from (found,) if isinstance(found, type) else found


def _describe(app: FastAPI, request_models: list[type[BaseModel]]) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        license_info=app.license_info,
        tags=app.openapi_tags,
        routes=app.routes,
    )
    _, definitions = models_json_schema([(model, "validation") for model in request_models], ref_template=REF)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update({name: _leave_out_defaults(schema) for name, schema in definitions["$defs"].items()})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    return document


def _correct(paths: dict[str, Any], examples: Mapping[str, Any], probes: Collection[str]) -> None:
    for path, operations in paths.items():
        for operation in operations.values():
            if path not in probes:
                _add_page_problems(operation["responses"])
            _correct_problems(operation["responses"])
            _correct_examples(operation["responses"], examples)


def _correct_examples(responses: dict[str, Any], examples: Mapping[str, Any]) -> None:
    """Restore nulls in the examples of answers; FastAPI leaves them out."""
    for response in responses.values():
        shown = response.get("content", {}).get("application/json", {}).get("examples", {})
        for name, example in shown.items():
            if name in examples and examples[name]["summary"] == example["summary"]:
                example["value"] = examples[name]["value"]


def _leave_out_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove the defaults of request members, since generated clients would always send them."""
    properties = schema.get("properties", {}).items()
    kept = {name: {key: value for key, value in said.items() if key != "default"} for name, said in properties}
    return {**schema, "properties": kept}


def _add_page_problems(responses: dict[str, Any]) -> None:
    for status, description in _PAGE_PROBLEMS.items():
        content = {"application/json": {"schema": refer_to(Problem)}}
        responses.setdefault(status, {"description": description, "content": content})


def _correct_problems(responses: dict[str, Any]) -> None:
    """Set `application/problem+json` for every error, which FastAPI would call `application/json`."""
    unused = {"$ref": REF.format(model="HTTPValidationError")}
    if responses.get("422", {}).get("content", {}).get("application/json", {}).get("schema") == unused:
        # FastAPI expects any parameter to be refused, even one that takes every text.
        del responses["422"]
    for status, response in responses.items():
        content = response.get("content", {})
        if int(status) >= 400 and "application/json" in content:
            response["content"] = {"application/problem+json": content["application/json"]}
        elif int(status) == 304:
            response.pop("content", None)
