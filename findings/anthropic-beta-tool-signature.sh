#!/usr/bin/env bash
# A function that anthropic's `beta_tool` has decorated can be called, and inspect cannot say what it takes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check anthropic==2.14.0 docstring-parser 2>/dev/null
"$folder/env/bin/python" - 2>/dev/null <<'PYTHON'
import inspect
import sys
from importlib.metadata import version

from anthropic import beta_tool


@beta_tool
def add(a: int, b: int = 1) -> str:
    """Add two numbers.

    Args:
        a: One.
        b: The other.
    """
    return str(a + b)


try:
    said = str(inspect.signature(add))
except TypeError as error:
    said = f"TypeError: {str(error).partition(' at ')[0]}"
print("anthropic", version("anthropic"), "callable:", callable(add), "add(1):", add(1), "signature:", said)
sys.exit(not (callable(add) and add(1) == "2" and said.startswith("TypeError")))
PYTHON
