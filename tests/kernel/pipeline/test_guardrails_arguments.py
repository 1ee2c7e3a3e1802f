"""A guardrail sends back the arguments that it has seen, no matter what says and checks them."""

from typing import Any

import pytest
from langchain_core.tools import Tool as LangChainTool
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel, Field, v1

from sidecall import Tool, ToolGuardrailFunctionOutput, tool
from sidecall.kernel.core.tool import Compilable
from tests.kit.calls import run


class Aliased(BaseModel):
    """Call an argument something else on the wire."""

    count: int = Field(alias="howMany")


class AliasedBefore(v1.BaseModel):
    """Do so in pydantic 1."""

    count: int = v1.Field(alias="howMany")


class ByEitherName(v1.BaseModel):
    """Read it by both names."""

    class Config:
        """Allow the field's own name."""

        allow_population_by_field_name = True

    count: int = v1.Field(alias="howMany")


def _same(data: Any) -> ToolGuardrailFunctionOutput:
    return ToolGuardrailFunctionOutput.replace({**data.args})


GUARDED: dict[str, Any] = {"tool_input_guardrails": [_same]}


async def work(count: int) -> int:
    """Work."""
    return count


@langchain_tool(args_schema=Aliased)
def of_langchain(count: int) -> int:
    """Work."""
    return count


SCHEMA = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


@pytest.mark.parametrize(
    ("guarded", "args"),
    [
        pytest.param(tool(**GUARDED)(work), {"count": 2}, id="a signature"),
        pytest.param(tool(args_schema=Aliased, **GUARDED)(work), {"howMany": 2}, id="a model with an alias"),
        pytest.param(tool(args_schema=AliasedBefore, **GUARDED)(work), {"howMany": 2}, id="one of pydantic 1"),
        pytest.param(tool(args_schema=ByEitherName, **GUARDED)(work), {"howMany": 2}, id="one read by both names"),
        pytest.param(tool(args_schema=SCHEMA, **GUARDED)(work), {"count": 2}, id="a JSON Schema"),
        pytest.param(Tool("work", int, "Work.", **GUARDED), {"__arg1": "2"}, id="one text"),
        pytest.param(tool(of_langchain, **GUARDED), {"howMany": 2}, id="a LangChain tool"),
        pytest.param(
            tool(LangChainTool("work", lambda text: text, "Work."), **GUARDED), {"__arg1": "2"}, id="LangChain's Tool"
        ),
    ],
)
async def test_arguments_may_be_replaced_by_those_that_were_seen(guarded: Compilable, args: dict[str, Any]) -> None:
    """Under the names under which they were seen."""
    message = await run(guarded, args)  # type: ignore[attr-defined]

    assert (message.content, message.response_metadata.get("ignored_args")) == ("2", [])
