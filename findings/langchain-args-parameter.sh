#!/usr/bin/env bash
# A LangChain tool class with a parameter called `args` lists it under another name, and refuses the value that comes so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check langchain-core==1.8.3 2>/dev/null
"$folder/env/bin/python" - 2>/dev/null <<'PYTHON'
import sys
from importlib.metadata import version

from langchain_core.tools import BaseTool


class Run(BaseTool):
    name: str = "run"
    description: str = "Run a program."

    def _run(self, program: str, args: list[str] | None = None) -> str:
        return f"{program} {args}"


tool = Run()
listed = list(tool.args)
try:
    answer = tool.invoke(dict.fromkeys(listed, "x") | {listed[-1]: ["-v"]})
except TypeError as error:
    answer = f"{type(error).__name__}: {error}"
print("langchain-core", version("langchain-core"), "lists:", listed, "and answers:", answer)
sys.exit(not (listed == ["program", "v__args"] and answer.startswith("TypeError")))
PYTHON
