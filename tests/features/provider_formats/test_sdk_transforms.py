"""The strict forms are what the libraries of OpenAI and Anthropic would make of them: they change nothing."""

import copy
from typing import Any

import pytest
from anthropic import transform_schema
from openai.lib._pydantic import _ensure_strict_json_schema

from sidecall.features.provider_formats.anthropic import find_anthropic_obstacles, to_anthropic
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.strict import find_strict_obstacles, to_strict
from sidecall.kernel.schema.references import inline_references, inline_root
from tests.kit.schemas import CHOICES, LOOSE, PLAIN, RECURSIVE, WIDE


def _flatten(schema: Schema) -> Schema:
    return inline_references(inline_root(schema))


def _name(*tables: Any) -> list[Any]:
    return [pytest.param(schema, id=name) for table in tables for name, schema in table.items()]


@pytest.mark.parametrize("schema", _name(PLAIN, CHOICES, RECURSIVE, WIDE))
def test_openai_changes_nothing(schema: Schema) -> None:
    """Every property is required, every object closed, and nothing stands beside a reference."""
    flat = _flatten(schema)

    assert find_strict_obstacles(flat) == []
    strict = to_strict(flat)
    own = copy.deepcopy(strict)
    assert _ensure_strict_json_schema(own, path=(), root=own) == strict


@pytest.mark.parametrize("schema", _name(PLAIN, CHOICES))
def test_anthropic_changes_nothing(schema: Schema) -> None:
    """What its strict tools refuse is said in words already."""
    flat = _flatten(schema)

    assert find_anthropic_obstacles(flat) == []
    strict = to_anthropic(flat)
    assert transform_schema(copy.deepcopy(strict)) == strict


@pytest.mark.parametrize("schema", _name(LOOSE))
def test_what_strict_modes_do_not_have_is_not_said_strictly(schema: Schema) -> None:
    """It is listed in its plain form, with the reason."""
    flat = _flatten(schema)

    assert find_strict_obstacles(flat) != []
    assert find_anthropic_obstacles(flat) != []


@pytest.mark.parametrize("schema", _name(RECURSIVE, WIDE))
def test_anthropic_takes_less(schema: Schema) -> None:
    """It has no references, and so many optional parameters and choices of types in all tools of a request."""
    assert find_anthropic_obstacles(_flatten(schema)) != []
