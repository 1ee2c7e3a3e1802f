#!/usr/bin/env bash
# The Python SDK 1.9.2 takes any newer pydantic 2 and cannot be imported with one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mcp==1.9.2 pydantic==2.14.4 2>/dev/null
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import requires, version

wanted = [it for it in requires("mcp") or () if it.startswith("pydantic<") or it.startswith("pydantic>")]
try:
    import mcp.server.fastmcp  # noqa: F401
except ImportError as error:
    said = str(error).partition(" (")[0]
else:
    said = "it can be imported"
print("mcp", version("mcp"), "wants", wanted, "has pydantic", version("pydantic"), "->", said)
sys.exit("eval_type_backport" not in said)
PYTHON
