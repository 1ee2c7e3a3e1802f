"""Documents are read as JSON and YAML; what is no document of OpenAPI 3 is refused with words."""

from pathlib import Path
from typing import Any

import pytest

from sidecall import from_openapi
from sidecall.authoring.openapi.reading import DocumentUnfit

GET = {"operationId": "get", "summary": "Get it.", "responses": {}}


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({"swagger": "2.0", "paths": {}}, "is written in Swagger 2.0: convert it to OpenAPI 3 first"),
        ({"openapi": "4.0.0", "paths": {}}, "is no document of OpenAPI 3: its `openapi` is '4.0.0'"),
        ({"openapi": "3.0.0", "paths": []}, "its `paths` have to be an object"),
        ({"openapi": "3.0.0", "paths": {}}, "it has none that is wanted"),
        ({"openapi": "3.0.0", "paths": {"/": {"get": GET}}}, "give base_url='https://…'"),
    ],
)
def test_a_document_that_cannot_be_used_is_refused_with_words(written: dict[str, Any], complaint: str) -> None:
    """Swagger 2 has no converter in Python that is kept."""
    with pytest.raises(DocumentUnfit) as caught:
        from_openapi(written)

    assert complaint in caught.value.message


def test_files_are_read_as_json_and_yaml(tmp_path: Path) -> None:
    """What YAML would take for dates and switches stays text; what is neither is refused."""
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.0.3\nservers: [{url: https://api.example.com}]\npaths:\n  /:\n    get:\n      operationId: get\n"
        "      parameters:\n      - {name: v, in: query, schema: {type: string, enum: [on, 2024-01-01, y]}}\n"
    )
    (tmp_path / "broken.yaml").write_text("a: [")

    (tool,) = from_openapi(tmp_path / "api.yaml").get_tools()

    assert tool.compiled.args_schema.flat["properties"]["v"]["enum"] == ["on", "2024-01-01", "y"]
    with pytest.raises(DocumentUnfit, match="is neither JSON nor YAML"):
        from_openapi(str(tmp_path / "broken.yaml"))
    with pytest.raises(DocumentUnfit, match="cannot be read: No such file"):
        from_openapi(tmp_path / "none.json")
    with pytest.raises(DocumentUnfit, match="name it in SIDECALL_OPENAPI"):
        from_openapi("https://api.example.com/openapi.json")
