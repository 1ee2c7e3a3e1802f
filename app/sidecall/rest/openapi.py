"""Complete the OpenAPI document where requests are read as bytes."""

import typing
from collections.abc import Mapping
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


def one_of(union: Any, examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is one of several models."""
    return _body({"anyOf": [_ref(model) for model in typing.get_args(union)]}, examples)


def array_of(union: Any, examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is an array of them."""
    items = {"anyOf": [_ref(model) for model in typing.get_args(union)]}
    return _body({"type": "array", "items": items}, examples)


def json_body(model: type[BaseModel], examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is one model."""
    return _body(_ref(model), examples)


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": REF.format(model=model.__name__)}


def _body(schema: dict[str, Any], examples: Mapping[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": dict(examples)}}}


def install(app: FastAPI, request_models: list[type[BaseModel]]) -> None:
    """Make `app.openapi()` describe the request models too, and problems with their own media type."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, request_models)
        return app.openapi_schema

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
    schemas.update(definitions["$defs"])
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for path in document["paths"].values():
        for operation in path.values():
            _mend_problems(operation["responses"])
    return document


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
