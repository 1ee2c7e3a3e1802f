#!/usr/bin/env bash
# Pydantic reads JSON for a union of models slower than it reads the JSON and then validates what came out, though one
# model of the union takes as long either way, and its docs advise to validate the JSON itself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pydantic==2.14.3 2>/dev/null
cat >"$folder/read.py" <<'PYTHON'
import json
import time
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic_core import from_json


class Answer(BaseModel):
    id: int
    result: dict[str, Any]


class Failure(BaseModel):
    id: int
    error: dict[str, Any]


class Request(BaseModel):
    id: int
    method: str


def spend(work) -> float:
    """Return the seconds of the processor that it takes, the best of seven."""
    found = []
    for _ in range(7):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


text = json.dumps({"id": 1, "result": {"rows": [{"a": 1, "b": "x"}] * 60_000}}).encode()
one, union = TypeAdapter(Answer), TypeAdapter(Request | Answer | Failure)
assert union.validate_json(text) == union.validate_python(from_json(text))
ratios = [
    spend(lambda: kind.validate_json(text)) / spend(lambda: kind.validate_python(from_json(text)))
    for kind in (one, union)
]
print(f"pydantic {version('pydantic')}: JSON itself against what was read of it:", end=" ")
print("one model {:.1f} times, a union {:.1f} times".format(*ratios))
raise SystemExit(not ratios[1] > max(2, 1.5 * ratios[0]))
PYTHON
"$folder/env/bin/python" "$folder/read.py"
