#!/usr/bin/env bash
# A message that LangChain has dumped itself loses its usage where it is read as a message, and keeps it where it is loaded.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check langchain-core==1.8.3 2>/dev/null
"$folder/env/bin/python" - 2>/dev/null <<'PYTHON'
import sys
from importlib.metadata import version

from langchain_core.load import dumpd, load
from langchain_core.messages import AIMessage, convert_to_messages

usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
dumped = dumpd(AIMessage("hi", usage_metadata=usage))
(read,) = convert_to_messages([dumped])
loaded = load(dumped)
print(
    "langchain-core", version("langchain-core"),
    "convert_to_messages:", read.usage_metadata, sorted(read.additional_kwargs), "load:", loaded.usage_metadata,
)
sys.exit(not (read.usage_metadata is None and "usage_metadata" in read.additional_kwargs and loaded.usage_metadata == usage))
PYTHON
