"""No validator has anything fetched, no matter what its schema names."""

import json
import socket
from contextlib import suppress
from typing import Any

import pytest

from sidecall.compiler.json_schema_library import compile_validator
from tests.compiler.normal.table import ELSEWHERE

_HERE = f"http:{ELSEWHERE}/x.json"


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": _HERE},
        {"$ref": f"{_HERE}#/a"},
        {"$ref": "file:///etc/passwd"},
        {"$schema": _HERE},
        {"$dynamicRef": _HERE},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": _HERE},
        {"$id": f"http:{ELSEWHERE}/", "properties": {"a": {"$ref": "x.json"}}},
        {"$defs": {"a": {"$ref": _HERE}}},
        {"definitions": {"a": {"$ref": _HERE}}},
        {"contentSchema": {"$ref": _HERE}},
        {"dependencies": {"a": {"$ref": _HERE}}},
    ],
)
def test_nobody_is_asked(schema: Any) -> None:
    """Such a schema is refused, or what it names counts for nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = f"//127.0.0.1:{listener.getsockname()[1]}"

        with suppress(ValueError):
            compile_validator(json.loads(json.dumps(schema).replace(ELSEWHERE, here))).is_valid({})

        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_options_are_passed_on() -> None:
    """As the library has them."""
    validator = compile_validator({"type": "integer"}, mask="It")

    assert [error.message for error in validator.iter_errors("secret")] == ['It is not of type "integer"']
