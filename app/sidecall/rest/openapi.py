"""Complete the OpenAPI document where requests are read as bytes."""

import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from sidecall.http.problems import Problem

REF = "#/components/schemas/{model}"
# Every route but the probes is refused to who is not named for certain.
CALLER_PROBLEM: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The header that names the caller is wrong."}
}
Described = dict[int | str, dict[str, Any]]
_PAGE_PROBLEMS = {
    "401": "It does not prove who sends it, where this server wants that.",
    "403": "The caller lacks the scope for it, or a web page sends it that may not use this server.",
    "421": "The server is not known by the name in `Host`.",
}


def describe_problems(**said: str) -> Described:
    """Describe answers that are problems: `_404="There is none."`."""
    return {int(status.strip("_")): {"model": Problem, "description": text} for status, text in said.items()}


def describe_bytes(name: str, whole: str, changes: str) -> Described:
    """Describe the answers of a route that gives the bytes of something, or those that `Range` asks for."""
    etag = {"ETag": {"description": changes, "schema": {"type": "string"}}}
    return {
        200: {"description": whole, "content": {"*/*": {}}, "headers": etag},
        206: {"description": "The bytes that `Range` asks for.", "content": {"*/*": {}}},
        304: {"description": f"You have this {name} already."},
        **CALLER_PROBLEM,
        **describe_problems(_416="None of its bytes is in `Range`."),
    }


def one_of(union: Any, examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is one of several models."""
    return _body({"anyOf": [_ref(model) for model in typing.get_args(union)]}, examples)


def array_of(union: Any, beside: type[BaseModel], examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is an array of them, or a model that holds one."""
    items = {"anyOf": [_ref(model) for model in typing.get_args(union)]}
    return _body({"anyOf": [{"type": "array", "items": items}, _ref(beside)]}, examples)


def json_body(model: type[BaseModel], examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is one model."""
    return _body(_ref(model), examples)


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": REF.format(model=model.__name__)}


def _body(schema: dict[str, Any], examples: Mapping[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": dict(examples)}}}


def install(
    app: FastAPI,
    request_models: list[type[BaseModel]],
    examples: Mapping[str, Any],
    probes: Collection[str],
    show: Callable[[dict[str, Any]], dict[str, Any]],
    secure: Callable[[dict[str, Any]], None],
) -> None:
    """Make `app.openapi()` describe the request models too, and problems with their own media type.

    Args:
        app: The application.
        request_models: What requests are read as.
        examples: Answers as they are shown.
        probes: The paths that are served under every name, and to every web page.
        show: Makes of the document what is shown while the present tools are served.
        secure: Adds how callers prove who they are.
    """

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, request_models)
            _mend(app.openapi_schema["paths"], examples, probes)
            secure(app.openapi_schema)
        return show(app.openapi_schema)

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI documents this as the way to extend it


def _document(app: FastAPI, request_models: list[type[BaseModel]]) -> dict[str, Any]:
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


def _mend(paths: dict[str, Any], examples: Mapping[str, Any], probes: Collection[str]) -> None:
    for path, operations in paths.items():
        for operation in operations.values():
            if path not in probes:
                _add_page_problems(operation["responses"])
            _mend_problems(operation["responses"])
            _mend_examples(operation["responses"], examples)


def _mend_examples(responses: dict[str, Any], examples: Mapping[str, Any]) -> None:
    """Show answers as they are; FastAPI leaves out what is null in them."""
    for response in responses.values():
        shown = response.get("content", {}).get("application/json", {}).get("examples", {})
        for name, example in shown.items():
            if name in examples and examples[name]["summary"] == example["summary"]:
                example["value"] = examples[name]["value"]


def _leave_out_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a request means where it says nothing; generators of clients would demand that it is sent."""
    properties = schema.get("properties", {}).items()
    kept = {name: {key: value for key, value in said.items() if key != "default"} for name, said in properties}
    return {**schema, "properties": kept}


def _add_page_problems(responses: dict[str, Any]) -> None:
    for status, description in _PAGE_PROBLEMS.items():
        content = {"application/json": {"schema": _ref(Problem)}}
        responses.setdefault(status, {"description": description, "content": content})


def _mend_problems(responses: dict[str, Any]) -> None:
    """Name `application/problem+json` for every error, which FastAPI would call `application/json`."""
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
