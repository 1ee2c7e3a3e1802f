"""Sidecall answers LangChain's recorded cases as LangChain does, but where it says why not."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_adapter import Adapter
from langchain_cases import CASES, Case
from langchain_compare import HERE, digest, reference, untitled

RECORDED = json.loads((HERE / "langchain_expected.json").read_text())["cases"]
DEVIATIONS: dict[str, dict[str, str]] = json.loads((HERE / "langchain_deviations.json").read_text())
KINDS = {"edge", "fix", "safety", "output", "open"}


def differences(case: Case) -> Iterator[tuple[str, Any, Any]]:
    """Compare build, result and schema of one case, as the comparer that came with the cases does."""
    recorded = RECORDED[case.id]
    adapter = Adapter()
    try:
        made = adapter.build(case)
    except Exception as error:
        if recorded["build"]["kind"] == "ok":
            yield "build", "ok", repr(error)
        return
    if recorded["build"]["kind"] != "ok":
        yield "build", "refused", "ok"
        return
    yield from _unequal("result", digest(reference(case, recorded)), lambda: digest(adapter.call(made, case)))
    if "error" not in recorded["openai_tool"]:
        yield from _unequal("schema", untitled(recorded["openai_tool"]), lambda: untitled(adapter.schema(made)))


def _unequal(what: str, theirs: Any, ours: Any) -> Iterator[tuple[str, Any, Any]]:
    try:
        answer = json.loads(json.dumps(ours(), default=str))
    except Exception as error:
        answer = repr(error)
    if answer != json.loads(json.dumps(theirs, default=str)):
        yield what, theirs, answer


@pytest.mark.parametrize("case", [case for case in CASES if case.id not in DEVIATIONS], ids=lambda case: case.id)
def test_a_case_is_answered_as_langchain_does(case: Case) -> None:
    """Same build, same result, same definition."""
    assert list(differences(case)) == []


@pytest.mark.parametrize("case", [case for case in CASES if case.id in DEVIATIONS], ids=lambda case: case.id)
def test_what_is_declared_still_differs(case: Case) -> None:
    """A declaration that is no longer true hides the next mistake."""
    assert list(differences(case)) != []


@pytest.mark.parametrize("case_id", DEVIATIONS)
def test_a_deviation_says_why(case_id: str) -> None:
    """It is of a known kind, and names a case that exists."""
    assert DEVIATIONS[case_id]["kind"] in KINDS
    assert DEVIATIONS[case_id]["why"]
    assert case_id in RECORDED
