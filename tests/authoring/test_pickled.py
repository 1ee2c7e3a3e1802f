"""Tools are copied and pickled, whether they were looked at before or not."""

import copy
import pickle
from typing import Any

import pytest

from sidecall import BaseTool, tool


@tool
def double(n: int) -> int:
    """Double a number."""
    return n * 2


class Times(BaseTool):
    """Multiply."""

    name: str = "times"
    by: int = 3

    def _run(self, n: int) -> int:
        return n * self.by


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
@pytest.mark.parametrize("it", [double, Times(by=4)], ids=lambda it: it.name)
def test_a_copy_does_what_the_tool_does(it: Any, take: Any) -> None:
    """Also of a tool that is ready already."""
    before = it.invoke({"n": 2})

    assert take(it).invoke({"n": 2}) == before


def test_a_function_tool_of_a_module_is_found_again_by_its_name() -> None:
    """It is one tool in each process."""
    assert pickle.loads(pickle.dumps(double)) is double


def test_a_tool_that_no_module_holds_under_its_name_is_not_taken_for_another() -> None:
    """The function under that name may be something else."""
    other = double.model_copy(update={"name": "other"})

    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(other)


def test_a_copy_can_be_changed() -> None:
    """The tool it was made of is not."""
    _ = double.compiled
    made = copy.copy(double)
    made.name = "twice"

    assert (made.compiled.name, double.compiled.name) == ("twice", "double")
