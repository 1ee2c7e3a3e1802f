"""Some differences from LangChain show only over HTTP, from sync code or beside its ToolNode."""

import re
from typing import Any

import pytest
from langchain_adapter import Adapter
from langchain_cases import CASES, Case

from bench.environments import ROOT
from sidecall import StructuredTool
from tests.conformance.test_langchain import DEVIATIONS, RECORDED
from tests.kit.clients import MakeClient

PAGE = (ROOT / "docs/coming-from-langchain.md").read_text().partition("## Every deliberate difference")[2]
PAGE = PAGE.partition("## Smaller differences")[0]
DECLARED = {reason for row in DEVIATIONS.values() for reason in re.split(r"(?<=\.) ", row["why"])}
ASYNC = "Async tools run from sync code too."
NOT_JSON = "NaN and Infinity in arguments are refused, since they are not JSON."
SEVERAL_FIELDS = "The message of a validator over several fields reaches the model; ToolNode shows an empty text."


def made(case_id: str) -> tuple[Case, StructuredTool, dict[str, Any]]:
    """Return a case, its tool, and what LangChain answered on each of its own ways."""
    case = next(case for case in CASES if case.id == case_id)
    return case, Adapter().build(case), RECORDED[case_id]


def test_every_difference_that_is_told_has_a_case() -> None:
    """A sentence that nothing tries may be no longer true."""
    told = [reason for line in re.findall(r"^- (.*)$", PAGE, re.MULTILINE) for reason in re.split(r"(?<=\.) ", line)]

    assert set(told) - DECLARED == {ASYNC, NOT_JSON, SEVERAL_FIELDS}


def test_async_tools_run_from_sync_code() -> None:
    """LangChain's do not."""
    case, tool, recorded = made("async_ok")

    assert recorded["invoke"]["type"] == "NotImplementedError"
    assert tool.invoke(case.input).content == recorded["ainvoke"]["message"]["content"] == "int:1"


def test_a_validator_over_several_fields_is_heard() -> None:
    """LangGraph's ToolNode names neither field nor reason."""
    case, tool, recorded = made("schema_model_validator_bad")

    assert "with error:\n \n Please fix" in recorded["toolnode"]["message"]["content"]
    assert tool.invoke(case.input).content == "arguments: low must be less than or equal to high"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
async def test_what_is_not_json_is_no_argument(make_client: MakeClient, number: str) -> None:
    """LangChain, whose arguments come from Python, runs the tool."""
    _, tool, recorded = made("float_nan")
    client = await make_client(tool)

    body = f'{{"name": "{tool.name}", "args": {{"x": {number}}}, "id": "call_1", "type": "tool_call"}}'
    response = await client.post("/tool_calls", content=body, headers={"content-type": "application/json"})

    assert recorded["invoke"]["message"]["content"] == "float:nan"
    assert response.status_code == 400
    assert response.json()["detail"].startswith("The body is not JSON: ")
