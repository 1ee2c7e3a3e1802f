"""Signatures, schemas and docstrings are read as the OpenAI Agents SDK reads them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.strict import find_strict_obstacles, to_strict
from sidecall.kernel.schema.references import map_children

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RECORDED = json.loads((HERE / "oai_expected.json").read_text())
DEVIATIONS = json.loads((HERE / "oai_deviations.json").read_text())
DECLARED = {f"{case} [{mode}]" for case, row in DEVIATIONS.items() for mode in row["modes"]}


def _with_all_required(schema: Schema) -> Schema:
    """Take out the one difference in every strict schema: ours lets optional properties be null."""
    node = map_children(schema, _with_all_required)
    return {**node, "required": list(node["properties"])} if "properties" in node else node


def _transform_level(recorded: dict[str, Schema]) -> str:
    schema = _with_all_required(recorded["input"])
    ours = None if find_strict_obstacles(schema) else to_strict(schema)
    return "exact" if ours == recorded.get("output") else "DIFF"


@pytest.fixture(scope="module")
def levels() -> dict[str, str]:
    """Compare every recorded function, plain and strict, and every recorded strict form of a bare schema."""
    transforms = RECORDED["strict_transform"]
    return _function_levels() | {f"{name} [transform]": _transform_level(row) for name, row in transforms.items()}


def _function_levels() -> dict[str, str]:
    result = subprocess.run(
        [sys.executable, "oai_compare.py", "oai_adapter", "--strict", "--list"],
        cwd=HERE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = re.findall(r"^\[(strict|nonstrict)\] (\w+): (\w+)$", result.stdout, re.MULTILINE)
    return {f"{case} [{mode}]": level for mode, case, level in rows}


def test_every_recorded_case_is_compared(levels: dict[str, str]) -> None:
    """154 functions, plain and strict, and 57 bare schemas."""
    assert len(levels) == 2 * 154 + 57


def test_nothing_differs_that_is_not_declared(levels: dict[str, str]) -> None:
    """A difference is either a mistake or a decision with a reason."""
    assert sorted(case for case, level in levels.items() if level == "DIFF" and case not in DECLARED) == []


def test_what_is_declared_still_differs(levels: dict[str, str]) -> None:
    """A declaration that is no longer true hides the next mistake."""
    assert sorted(case for case in DECLARED if levels.get(case) != "DIFF") == []


def test_every_declaration_has_a_reason() -> None:
    """Readers learn what is better about ours."""
    assert [case for case, row in DEVIATIONS.items() if not (row["kind"] and row["why"])] == []
