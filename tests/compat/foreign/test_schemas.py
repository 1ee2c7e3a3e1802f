"""The JSON Schemas of other libraries' tools are taken over in any draft."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import StructuredTool as LangChainStructured

from sidecall import StructuredTool, tool
from sidecall.kernel.core.errors import SchemaInferenceError
from tests.compat.foreign.agents_sdk import FunctionTool
from tests.compiler.normal.table import REFUSED, TABLE, take
from tests.kit.calls import run


def make_of_langchain(schema: dict[str, Any]) -> StructuredTool:
    """Make a tool of LangChain's that answers with its arguments."""

    def give(**given: Any) -> str:
        return json.dumps(given)

    return tool(LangChainStructured.from_function(func=give, name="give", description="Give back.", args_schema=schema))


def make_of_agents(schema: dict[str, Any]) -> StructuredTool:
    """Make one of the OpenAI Agents SDK's."""

    async def give(_: Any, arguments: str) -> str:
        return arguments

    return tool(FunctionTool("give", "Give back.", schema, give))


LIBRARIES = pytest.mark.parametrize("make", [make_of_langchain, make_of_agents])


@LIBRARIES
@pytest.mark.parametrize("name", TABLE)
async def test_arguments_reach_it(make: Callable[[dict[str, Any]], StructuredTool], name: str) -> None:
    """Those that the schema takes, and no others."""
    schema, fitting, unfit = TABLE[name]
    made = make(schema)

    assert [json.loads(str((await run(made, args)).content)) for args in fitting] == fitting
    for args in unfit:
        assert (await run(made, args)).response_metadata["error"]["kind"] == "invalid_arguments"


@LIBRARIES
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_elsewhere_stops_the_start(make: Callable[[dict[str, Any]], StructuredTool], name: str) -> None:
    """In words that name the tool and the place."""
    schema, words = REFUSED[name]

    with pytest.raises(SchemaInferenceError) as caught:
        assert make(take({"p": schema})).compiled

    assert "tool 'give': args_schema: " in caught.value.message
    assert words in caught.value.message
