#!/usr/bin/env bash
# DSPy 3.4.1 lists the `**rest` of a function as an argument of that name, of the type of one value, and as required.
# A good guess would be that arguments of other names are allowed and none is required, as the tool itself has it when
# it is called: it takes any name there, and needs none.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1
cat >"$work/show.py" <<'PYTHON'
from importlib.metadata import version

import dspy


def translate(text: str, **options: str) -> str:
    """Translate a text."""
    return f"{text} {options}"


tool = dspy.Tool(translate)
parameters = tool.format_as_litellm_function_call()["function"]["parameters"]
print("dspy", version("dspy"))
print("listed:", parameters["properties"]["options"], parameters["required"], "additionalProperties" in parameters)
print("called without:", tool(text="tea"))
print("called with another:", tool(text="tea", to="de"))
PYTHON
"$work/env/bin/python" "$work/show.py" | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
dspy 3.4.1
listed: {'type': 'string'} ['text', 'options'] False
called without: tea {}
called with another: tea {'to': 'de'}
SEEN
