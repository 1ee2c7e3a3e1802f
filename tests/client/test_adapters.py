"""Parameters and answers are brought into the shapes that frameworks take."""

import subprocess
import sys
from typing import Any

import pytest

from sidecall.client import ToolAnswer, ToolFailed
from sidecall.client.adapters import inline_properties, make_schema_model, name_arguments, read_text
from sidecall.client.answers import CallApproval

LINE = {"type": "object", "description": "A line.", "properties": {"parts": {"items": {"$ref": "#/$defs/Line"}}}}
PARAMETERS = {
    "type": "object",
    "properties": {"line": {"$ref": "#/$defs/Line", "description": "Which."}, "unit": {"$ref": "#/$defs/Unit"}},
    "required": ["line"],
    "$defs": {"Line": LINE, "Unit": {"enum": ["g", None], "default": "g"}},
}


def test_references_are_replaced_until_a_schema_contains_itself() -> None:
    """What stands beside a reference stays."""
    inner = {"type": "object", "description": "A line."}
    outer = {"type": "object", "properties": {"parts": {"items": inner}}, "description": "Which."}

    assert inline_properties(PARAMETERS) == {"line": outer, "unit": {"enum": ["g", None], "default": "g"}}


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"properties": {"$ref": {"type": "string"}}},
        {"properties": {"place": {"const": {"$ref": 7}}}},
        {"properties": {"place": {"$ref": "https://x.test/schema"}}},
        {"properties": {"place": {"$ref": "#/$defs/Gone"}}, "$defs": {"Other": {}}},
    ],
)
def test_what_is_no_reference_stays(parameters: Any) -> None:
    """A parameter of that name, a value, or the schema of somewhere else."""
    assert inline_properties(parameters) == parameters.get("properties", {})


@pytest.mark.parametrize(
    "written",
    [{}, {"copy": 2**70, "model_config": None, "self": {"json": [1.5]}}, {"line": {"parts": [{}]}, "unknown": "1"}],
)
def test_a_model_takes_any_arguments_unchanged(written: dict[str, Any]) -> None:
    """The server says what is wrong with them."""
    assert make_schema_model("order", PARAMETERS).model_validate(written).model_dump() == written


def test_a_model_lists_the_schema_as_it_is() -> None:
    """Each caller may change its copy."""
    model = make_schema_model("order", PARAMETERS)
    model.model_json_schema()["properties"].clear()

    assert model.model_json_schema(ref_template="{model}") == PARAMETERS
    assert make_schema_model("now", {}).model_json_schema() == {"type": "object", "properties": {}, "required": []}


def test_arguments_without_a_name_belong_to_the_first_parameters() -> None:
    """As in a call of a function."""
    assert name_arguments(PARAMETERS, ({},), {"unit": "g"}) == {"line": {}, "unit": "g"}
    with pytest.raises(TypeError) as refused:
        name_arguments(PARAMETERS, (1, 2, 3), {})
    assert str(refused.value) == "there are 3 arguments without a name, for 2 parameters"


def test_a_text_has_its_answer() -> None:
    """A failure raises, but not a call that waits for a person."""
    approval = CallApproval("a", "pending", {"name": "refund"})
    waits = ToolAnswer("It waits.", "call_1", "refund", "error", approval=approval)

    found = read_text(ToolAnswer("tea", "call_0", "find", artifact=[1]))
    assert (found, found.answer.artifact) == ("tea", [1])
    assert read_text(waits).answer.approval == approval
    with pytest.raises(ToolFailed) as failed:
        read_text(ToolAnswer("No pencil.", "call_2", "draw", "error"))
    assert str(failed.value) == "No pencil."


def test_what_adapters_share_needs_no_framework() -> None:
    """Each framework is installed without the others: LangChain least of all is there."""
    hidden = "import sys; sys.modules.update(dict.fromkeys(('langchain_core', 'langgraph', 'langchain', 'agents')))"
    shared = "import sidecall.client.runs, sidecall.client.remote, sidecall.client.adapters, sidecall.client.blocks"

    done = subprocess.run([sys.executable, "-c", f"{hidden}; {shared}"], capture_output=True, text=True, check=False)

    assert done.stderr == ""
