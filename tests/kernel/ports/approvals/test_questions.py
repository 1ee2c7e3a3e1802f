"""Whether a tool asks a person while it runs is seen in its code."""

import functools
import json
import sys
from types import FrameType, ModuleType
from typing import Any

import pytest

from sidecall.kernel.ports.approvals.questions import Questions, asks_inside

PLAIN = """
from sidecall import ApprovalRequired

def run(n):
    return n + 1

def other(n):
    raise ApprovalRequired("Really?")
"""
ITSELF = """
from sidecall import ApprovalRequired as Question

def run(n):
    def decide():
        raise Question("Really?")
    return decide()
"""
INSIDE = """
def run(n):
    from sidecall import ApprovalRequired
    raise ApprovalRequired("Really?")
"""
QUALIFIED = """
import sidecall

def run(n):
    raise sidecall.ApprovalRequired("Really?")
"""
ITS_OWN = """
from sidecall import ApprovalRequired

class Large(ApprovalRequired):
    pass

def run(n):
    raise Large("Really?")
"""
BY_A_FUNCTION = """
from sidecall import ApprovalRequired

def ask():
    raise ApprovalRequired("Really?")

def look(n):
    return ask() if n else n

def run(n):
    return look(n)
"""
BY_AN_OBJECT = """
from sidecall import ApprovalRequired

class Till:
    def pay(self, n):
        raise ApprovalRequired("Really?")

TILL = Till()

def run(n):
    return TILL.pay(n)
"""
BY_A_DECORATOR = """
import functools
from sidecall import ApprovalRequired

def asking(function):
    @functools.wraps(function)
    def wrapper(n):
        raise ApprovalRequired("Really?")
    return wrapper

@asking
def run(n):
    return n
"""
BY_A_METHOD = """
from sidecall import ApprovalRequired

class Base:
    def _ask(self):
        raise ApprovalRequired("Really?")

class Pay(Base):
    def run(self, n):
        return self._ask()

run = Pay().run
"""
BY_A_TOOL = """
from sidecall import ApprovalRequired, tool

@tool
def ask(n: int) -> str:
    "Ask."
    raise ApprovalRequired("Really?")

def run(n):
    return ask.invoke({"n": n})
"""
MARKED = """
from sidecall import ApprovalRequired

def run(n):
    return elsewhere(n)
"""
BESIDE_A_TOOL = """
from sidecall import ApprovalRequired, tool

@tool
def ask(n: int) -> str:
    "Ask."
    raise ApprovalRequired("Really?")

def run(n):
    return n
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(PLAIN, False, id="another function of the module does"),
        pytest.param(BESIDE_A_TOOL, False, id="another tool of the module does"),
        pytest.param(ITSELF, True, id="under another name, in a function of its own"),
        pytest.param(INSIDE, True, id="imported where it is raised"),
        pytest.param(QUALIFIED, True, id="by the package"),
        pytest.param(ITS_OWN, True, id="one of the module's own"),
        pytest.param(BY_A_FUNCTION, True, id="by a function that it calls"),
        pytest.param(BY_AN_OBJECT, True, id="by an object"),
        pytest.param(BY_A_DECORATOR, True, id="by a decorator"),
        pytest.param(BY_A_METHOD, True, id="by a method that is inherited"),
        pytest.param(BY_A_TOOL, True, id="by a tool"),
        pytest.param(MARKED, True, id="the module imports it and names it nowhere"),
    ],
)
def test_what_a_function_reaches_decides(source: str, expected: bool) -> None:
    """Tools that ask nobody lose no time and need no store, no matter what else is in their module."""
    module = ModuleType("written")
    exec(source, vars(module))

    assert asks_inside(module.run) is expected
    assert asks_inside(functools.partial(module.run, 1)) is expected


def _count_followed(tools: int) -> int:
    """Count the calls of functions in which tools that name nothing of their module are looked through."""
    module = {"__name__": "many", "WORDS": "some words", "json": json}
    exec(
        "\n".join(f"def tool_{number}(text: str):\n    return json.dumps([WORDS, text])" for number in range(tools)),
        module,
    )
    functions = [value for name, value in module.items() if name.startswith("tool_")]
    questions, calls = Questions(), 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    questions.asks_inside(functions[0])
    sys.setprofile(note)
    try:
        assert not any(questions.asks_inside(function) for function in functions)
    finally:
        sys.setprofile(None)
    return calls


def test_what_names_nothing_is_passed_over_in_a_few_steps() -> None:
    """However many tools there are in a module, so that their list for MCP takes no longer than for others."""
    assert _count_followed(200) / 200 < 9
    assert _count_followed(2_000) / 2_000 < 9
