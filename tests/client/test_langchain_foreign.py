"""Tools with schemas of any draft are loaded as LangChain's, and none takes the others with it."""

import json

from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.client.conftest import OpenTwin
from tests.client.test_langchain import load
from tests.compiler.normal.table import TABLE
from tests.compiler.test_json_args_schema_foreign import MADE

# LangChain itself takes a property and a value that are called `$ref` for references.
_MISTAKEN = ("names", "values")


async def test_all_are_loaded_and_called(open_twin: OpenTwin) -> None:
    """With the arguments that their schemas take."""
    twin = await open_twin(*MADE.values())

    loaded = {it.name: it for it in await load(twin)}
    offered = [convert_to_openai_tool(it)["function"]["name"] for name, it in loaded.items() if name not in _MISTAKEN]
    given = {
        name: await loaded[name].ainvoke({"type": "tool_call", "name": name, "args": it.fitting[0], "id": "1"})
        for name, it in TABLE.items()
    }

    assert offered == [name for name in TABLE if name not in _MISTAKEN]
    assert {name: json.loads(it.content) for name, it in given.items()} == {
        name: it.fitting[0] for name, it in TABLE.items()
    }
