#!/usr/bin/env bash
# What a model of dspy.ReAct reads of a tool that raises: a traceback, with paths of the machine.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1 2>/dev/null
cat >"$folder/shop.py" <<'PYTHON'
import json
import sys
from importlib.metadata import version

import dspy
from dspy.utils.dummies import DummyLM


def order(article: str) -> str:
    """Order an article."""
    raise ValueError("There is no such article.")


call = {"next_thought": "So.", "next_tool_name": "order", "next_tool_args": json.dumps({"article": "tea"})}
end = {"next_thought": "So.", "next_tool_name": "finish", "next_tool_args": "{}"}
model = DummyLM([call, end, {"reasoning": "So.", "answer": "Done."}])
with dspy.context(lm=model):
    dspy.ReAct("question -> answer", tools=[order])(question="Please.")
read = str(model.history[-1]["messages"])
print("dspy", version("dspy"), "-> the model reads the reason:", "There is no such article." in read)
print("and the path of the tool's file:", __file__ in read, "and its code:", "raise ValueError(" in read)
sys.exit(not (__file__ in read and "raise ValueError(" in read))
PYTHON
DSPY_CACHEDIR="$folder/cache" "$folder/env/bin/python" "$folder/shop.py" 2>/dev/null
