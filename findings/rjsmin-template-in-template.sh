#!/usr/bin/env bash
# rjsmin takes a template inside a template for code: spaces of its text are dropped, so that the script says another one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check rjsmin==1.3.0 2>/dev/null
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from rjsmin import jsmin

flat = "const a = `two  spaces ${b} z`;\n"
nested = "const a = `x ${b ? `two  spaces` : c} z`;\n"
kept, changed = jsmin(flat), jsmin(nested)
print("rjsmin", version("rjsmin"), "alone:", kept, "inside another:", changed)
sys.exit((kept, changed) != ("const a=`two  spaces ${b} z`;", "const a=`x ${b ? `two spaces` : c} z`;"))
PYTHON
