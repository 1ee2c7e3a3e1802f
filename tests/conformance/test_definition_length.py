"""A definition takes no more of a model's context than LangChain's, but where that leaves out what counts."""

import inspect
import json
from pathlib import Path
from typing import Any

import langchain_core.tools
import pytest
from langchain_adapter import Adapter
from langchain_cases import CASES, Case
from langchain_compare import HERE
from langchain_core.utils.function_calling import convert_to_openai_tool

from sidecall.cli.tools import estimate_definition
from sidecall.kernel.schema.forms.definitions import render_definitions
from sidecall.loading.modules.loading import load_file

RECORDED = json.loads((HERE / "langchain_expected.json").read_text())["cases"]
DEVIATIONS = json.loads((HERE / "langchain_deviations.json").read_text())
SHIPPED = Path(__file__).parents[2] / "tools"

# Cases whose definition is longer than LangChain's, and what LangChain's does not say.
LONGER = {
    "model_recursive": "what is inside of what is inside; LangChain's says that the children are anything",
    "describe_annotated": "the author's example and the author's own keyword",
    "describe_field_default_constraint": "the author's example and the author's own keyword",
    "schema_extra_dropped": "the author's example",
    "schema_forbid_extra": "that other arguments are refused",
    "schema_allow_extra": "that other arguments are taken",
}


def _measure(definition: dict[str, Any]) -> tuple[int, int]:
    """Measure characters and tokens."""
    return len(json.dumps(definition, separators=(",", ":"))), estimate_definition(definition)


def _is_comparable(case: Case) -> bool:
    recorded = RECORDED[case.id]
    return recorded["build"]["kind"] == "ok" and "error" not in recorded["openai_tool"]


def _compare(case: Case) -> bool:
    """Return whether ours is longer."""
    adapter = Adapter()
    try:
        made = adapter.build(case)
    except Exception:
        assert case.id in DEVIATIONS
        return False
    ours, theirs = _measure(adapter.schema(made)), _measure(RECORDED[case.id]["openai_tool"])
    return ours[0] > theirs[0] or ours[1] > theirs[1]


def test_no_definition_is_longer_than_langchains_but_those_that_say_more() -> None:
    """Measured in characters and in estimated tokens."""
    compared = [case for case in CASES if _is_comparable(case)]

    assert {case.id for case in compared if _compare(case)} == set(LONGER)
    assert len(compared) > 200


@pytest.mark.parametrize(
    ("file", "name"), [("calculator", "calculator"), ("clock", "current_time"), ("clock", "convert_time")]
)
def test_what_ships_is_no_longer_than_the_same_function_as_a_langchain_tool(file: str, name: str) -> None:
    """Here LangChain itself is asked."""
    ours = getattr(load_file(SHIPPED / f"{file}.py"), name)
    function = inspect.unwrap(ours.func or ours.coroutine)

    theirs = convert_to_openai_tool(langchain_core.tools.tool(name)(function))

    characters, tokens = _measure(render_definitions([ours.compiled], "openai")[0])
    assert characters <= _measure(theirs)[0]
    assert tokens <= _measure(theirs)[1]
