"""Describe for the OpenAPI document what the framework cannot infer."""

import typing
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from sidecall.http.parameters import NEXT_PAGE
from sidecall.http.problems import Problem

REF = "#/components/schemas/{model}"
# Every route but the probes is refused to who is not named for certain.
CALLER_PROBLEM: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The header that names the caller is wrong."}
}
Described = dict[int | str, dict[str, Any]]


def describe_problems(**said: str) -> Described:
    """Describe problem answers: `_404="There is none."`."""
    return {int(status.strip("_")): {"model": Problem, "description": text} for status, text in said.items()}


def describe_page(model: Any, whole: str, counts: Mapping[str, Any] | None = None, **said: str) -> Described:
    """Describe the answers of a route that lists in pages; `counts` are headers besides the link to the next page."""
    page = {"model": model, "description": whole, "headers": {**NEXT_PAGE, **(counts or {})}}
    return {200: page, **CALLER_PROBLEM, **describe_problems(**said, _422="A parameter is wrong.")}


def describe_bytes(name: str, whole: str, changes: str) -> Described:
    """Describe the answers of a route that returns bytes, whole or by `Range`."""
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
    return _body({"anyOf": [refer_to(model) for model in typing.get_args(union)]}, examples)


def array_of(union: Any, beside: Sequence[type[BaseModel]], examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is an array of such models, or a model that holds one."""
    items = {"anyOf": [refer_to(model) for model in typing.get_args(union)]}
    return _body({"anyOf": [{"type": "array", "items": items}, *map(refer_to, beside)]}, examples)


def json_body(model: type[BaseModel], examples: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a body that is one model."""
    return _body(refer_to(model), examples)


def refer_to(model: type[BaseModel]) -> dict[str, str]:
    """Return a reference to a model of the document."""
    return {"$ref": REF.format(model=model.__name__)}


def _body(schema: dict[str, Any], examples: Mapping[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": dict(examples)}}}
