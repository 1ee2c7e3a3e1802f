#!/usr/bin/env bash
# Semantic Kernel 1.45.0 resolves `$ref` in a requestBody when it reads an OpenAPI document from a file, and not when it
# is given the same document as a parsed dict: the function then has no parameters, without an error or a warning.
# A good guess would be that both give the same function. With the schema in place of the reference both do.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check semantic-kernel==1.45.0
cat >"$work/show.py" <<'PYTHON'
import json
import logging
import pathlib
import sys

import semantic_kernel
from semantic_kernel import Kernel
from semantic_kernel.connectors.openapi_plugin import OpenAPIFunctionExecutionParameters

logging.disable(logging.CRITICAL)
ADDRESS = "http://127.0.0.1:9"  # Nothing is called.
REFUND = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "reason": {"type": "string"}},
    "required": ["number"],
}


def write(schema):
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    operation = {"operationId": "refund", "requestBody": body, "responses": {"200": {"description": "ok"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "shop", "version": "1"},
        "servers": [{"url": ADDRESS}],
        "paths": {"/refund": {"post": operation}},
        "components": {"schemas": {"Refund": REFUND}},
    }


def list_parameters(**document):
    settings = OpenAPIFunctionExecutionParameters(
        enable_dynamic_payload=True, server_url_validation_allowed_base_urls=[ADDRESS]
    )
    plugin = Kernel().add_plugin_from_openapi(plugin_name="shop", execution_settings=settings, **document)
    return [parameter.name for parameter in plugin["refund"].metadata.parameters]


referring = write({"$ref": "#/components/schemas/Refund"})
path = pathlib.Path(sys.argv[1]) / "shop.json"
path.write_text(json.dumps(referring))
print("semantic-kernel", semantic_kernel.__version__)
print("from a file, $ref:", list_parameters(openapi_document_path=str(path)))
print("parsed, $ref:", list_parameters(openapi_parsed_spec=referring))
print("parsed, in place:", list_parameters(openapi_parsed_spec=write(REFUND)))
PYTHON
"$work/env/bin/python" "$work/show.py" "$work" | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
semantic-kernel 1.45.0
from a file, $ref: ['number', 'reason']
parsed, $ref: []
parsed, in place: ['number', 'reason']
SEEN
