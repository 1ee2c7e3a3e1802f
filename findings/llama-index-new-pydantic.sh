#!/usr/bin/env bash
# LlamaIndex takes any newer pydantic, and an agent's saved workflow loses its memory with one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
pip=("$folder/env/bin/pip" install --quiet --disable-pip-version-check)
"${pip[@]}" llama-index-core==0.14.25 llama-index-workflows==2.26.1 pydantic==2.14.4 2>/dev/null
cat >"$folder/save.py" <<'PYTHON'
import asyncio
import warnings
from importlib.metadata import version

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import Context

warnings.simplefilter("ignore")


async def save() -> None:
    """Save the context of an agent that has answered, and look for its memory."""
    agent = FunctionAgent(tools=[], llm=MockFunctionCallingLLM())
    context = Context(agent)
    await agent.run(user_msg="My name is Ada.", ctx=context)
    kept = Context.from_dict(agent, context.to_dict())
    memory = await kept.store.get("memory", default=None)
    said = "lost" if memory is None else [it.content for it in await memory.aget()][:1]
    print("llama-index-core", version("llama-index-core"), "pydantic", version("pydantic"), "-> memory:", said)


asyncio.run(save())
PYTHON
new=$("$folder/env/bin/python" "$folder/save.py")
"${pip[@]}" pydantic==2.12.5 2>/dev/null
old=$("$folder/env/bin/python" "$folder/save.py")
printf '%s\n%s\n' "$new" "$old"
[[ $new == *"memory: lost" && $old == *"memory: ['My name is Ada.']" ]]
