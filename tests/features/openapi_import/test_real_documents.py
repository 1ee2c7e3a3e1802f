"""Large documents load whole: generated ones of the shapes of well-known services, and those themselves where they are.

`scripts/install-openapi-documents` gets some; others that are laid beside them are tried, too.
"""

import time
from pathlib import Path
from typing import Any

import pytest

from bench.environments import ROOT
from sidecall import from_openapi

FOLDER = ROOT / ".venv-clients/openapi-documents"
INSTALLED = sorted(path for path in FOLDER.glob("*.*") if path.suffix in (".json", ".yaml"))
# Processor seconds for a thousand operations: it takes 0.6 to 1.4 where nothing else runs and nothing is measured.
PER_THOUSAND = 12.0


def in_the_shape_of_github(count: int) -> dict[str, Any]:
    """Many paths with shared parameters by reference, and bodies with choices within."""
    body = {
        "type": "object",
        "properties": {
            "labels": {
                "type": "array",
                "items": {"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/label"}]},
            },
            "title": {"type": "string"},
        },
        "required": ["title"],
    }
    paths = {
        f"/repos/{{owner}}/{{repo}}/things{number}": {
            "post": {
                "operationId": f"repos/create-thing{number}",
                "parameters": [{"$ref": "#/components/parameters/owner"}, {"$ref": "#/components/parameters/repo"}],
                "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            }
        }
        for number in range(count)
    }
    parameters = {
        name: {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in ("owner", "repo")
    }
    label = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "color": {"type": "string", "nullable": True}},
    }
    return {"paths": paths, "components": {"parameters": parameters, "schemas": {"label": label}}}


def in_the_shape_of_stripe(count: int) -> dict[str, Any]:
    """Wide forms with objects within, written in brackets."""
    inner = {"type": "object", "properties": {f"line{number}": {"type": "string"} for number in range(12)}}
    properties = {f"field{number}": inner if number % 4 == 0 else {"type": "string"} for number in range(40)}
    encoding = {name: {"style": "deepObject", "explode": True} for name in properties}
    form = {"schema": {"type": "object", "properties": properties}, "encoding": encoding}
    content = {"application/x-www-form-urlencoded": form}
    return {
        "paths": {
            f"/v1/things{number}": {"post": {"operationId": f"PostThings{number}", "requestBody": {"content": content}}}
            for number in range(count)
        }
    }


def in_the_shape_of_kubernetes(count: int) -> dict[str, Any]:
    """Deep bodies of definitions that share others, some of which hold themselves."""
    schemas: dict[str, Any] = {
        f"io.k8s.Part{number}": {
            "type": "object",
            "properties": {
                "next": {"$ref": f"#/components/schemas/io.k8s.Part{number + 1}"},
                "props": {"$ref": "#/components/schemas/JSONSchemaProps"},
                "names": {"type": "array", "items": {"type": "string"}},
            },
        }
        for number in range(60)
    }
    schemas["io.k8s.Part60"] = {"type": "object", "properties": {"end": {"type": "string", "format": "date-time"}}}
    schemas["JSONSchemaProps"] = {
        "type": "object",
        "properties": {"not": {"$ref": "#/components/schemas/JSONSchemaProps"}},
    }
    body = {"content": {"*/*": {"schema": {"$ref": "#/components/schemas/io.k8s.Part0"}}}, "required": True}
    paths = {
        f"/apis/v1/things{number}": {"post": {"operationId": f"createThing{number}", "requestBody": body}}
        for number in range(count)
    }
    return {"paths": paths, "components": {"schemas": schemas}}


SHAPES = [in_the_shape_of_github, in_the_shape_of_stripe, in_the_shape_of_kubernetes]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda it: it.__name__)
def test_large_documents_load_whole(shape: Any) -> None:
    """Each operation becomes a tool."""
    kit = from_openapi({"openapi": "3.0.3", "servers": [{"url": "https://api.example.com"}], **shape(40)})

    assert (len(kit.get_tools()), kit.skipped) == (40, {})


@pytest.mark.skipif(not INSTALLED, reason="there are none: scripts/install-openapi-documents gets some")
@pytest.mark.parametrize("path", INSTALLED, ids=lambda path: path.name)
def test_documents_of_services_load_whole(path: Path) -> None:
    """Each operation becomes a tool, or is named with a reason."""
    begun = time.process_time()
    kit = from_openapi(path, base_url="https://api.example.com")

    spent = time.process_time() - begun
    count = len(kit.get_tools())
    assert {label for label, reason in kit.skipped.items() if not reason} == set()
    assert len(kit.skipped) <= count / 100
    assert spent <= 2.0 + PER_THOUSAND * count / 1000
