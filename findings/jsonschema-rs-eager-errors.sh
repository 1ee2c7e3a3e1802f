#!/usr/bin/env bash
# The iterator of errors that jsonschema-rs gives is no lazy one: all values are looked at, twice, before the first is asked for.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jsonschema-rs==0.60.0 2>/dev/null
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

import jsonschema_rs

looked = []


def is_even(text: str) -> bool:
    """Note each value whose format is checked."""
    looked.append(text)
    return False


schema = {"items": {"type": "string", "format": "even"}}
validator = jsonschema_rs.validator_for(schema, validate_formats=True, formats={"even": is_even})
value = ["a", "b", "c", "d"]
errors = validator.iter_errors(value)
before_the_first = len(looked)
looked.clear()
next(errors)
asked_for_one = len(looked)
validator.is_valid(value)
answered_at_once = len(looked)
print(
    "jsonschema-rs", version("jsonschema-rs"), type(errors).__name__,
    "looked at before the first error is asked for:", before_the_first,
    "while it is asked for:", asked_for_one, "and for is_valid:", answered_at_once,
)
sys.exit((before_the_first, asked_for_one, answered_at_once) != (8, 0, 1))
PYTHON
