"""A caller who asks for a tool that there is not is told of those that there are, with little work if they are many."""

import asyncio
from typing import Any

import pytest

from sidecall import Caller, Registry, StructuredTool, tool
from sidecall.kernel.core.context import Toolset
from sidecall.kernel.pipeline.unknown_tool import MissingTools
from tests.kit.calls import write_request
from tests.kit.costs.steps import count_steps

NAMES = [f"tool_{number}_lookup" for number in range(1000)]


def _make(name: str, **options: Any) -> StructuredTool:
    return tool(name, description="Do it.", executor="inline", **options)(lambda: name)


MANY = Registry([_make(name) for name in NAMES])


def _ask(missing: MissingTools, name: str, **beside: Any) -> tuple[int, str]:
    """Ask for a tool, and return the steps that the answer took, and its text."""
    request = write_request(name, **beside)
    steps, error = count_steps(lambda: asyncio.run(missing.explain(request, None)))
    return steps, str(error.content)


def test_of_many_tools_the_nearest_are_named_and_how_many_there_are() -> None:
    """Few are all named."""
    few = MissingTools(Registry([_make(name) for name in NAMES[:50]]))
    many = MissingTools(MANY)

    assert _ask(few, "nothing")[1] == f"Error: nothing is not a valid tool, try one of [{', '.join(NAMES[:50])}]."
    assert _ask(many, "nothing")[1] == (
        f"Error: nothing is not a valid tool, try one of [{', '.join(NAMES[:50])}, and 950 more]."
    )
    assert _ask(many, "tool_777_lokup")[1] == (
        "Error: tool_777_lokup is not a valid tool, try one of [tool_777_lookup, tool_77_lookup, tool_177_lookup, "
        f"{', '.join(NAMES[:47])}, and 950 more]. Did you mean tool_777_lookup?"
    )


@pytest.mark.parametrize("is_conditional", [False, True])
def test_a_misspelt_name_takes_few_steps_among_thousands(is_conditional: bool) -> None:
    """What a caller sees is listed once; where some tools ask who calls, only those are asked again."""
    extra = [_make("asks", is_enabled=lambda _: True)] if is_conditional else []
    missing = MissingTools(Registry([*MANY.given, *extra]))

    first, _ = _ask(missing, "tool_77_lokup")
    later, _ = _ask(missing, "tool_78_lokup")

    assert later < 12_000
    assert first > later


def test_callers_are_told_what_they_see() -> None:
    """Though what others see is remembered; and what has come since."""
    registry = Registry([_make("look"), _make("lock", scopes=["admin"]), _make("link", is_enabled=False)])
    missing = MissingTools(registry)
    admin, nobody = Caller("ada", scopes=frozenset({"admin", "x"})), Caller("bob", scopes=frozenset({"y"}))
    locked_out = Caller("ada", scopes=frozenset({"*"}), toolset=Toolset("some", without=("lo*",)))

    told = [_ask(missing, "nope", caller=caller)[1] for caller in (admin, nobody, locked_out, admin)]
    registry.add(_make("leap"))
    told.append(_ask(missing, "nope", caller=nobody)[1])

    lists = ["look, lock", "look", "", "look, lock", "look, leap"]
    endings = [f", try one of [{names}]." if names else "; there are none." for names in lists]
    assert told == [f"Error: nope is not a valid tool{ending}" for ending in endings]


def test_made_up_kinds_of_callers_fill_no_memory() -> None:
    """The listing that was not asked for longest is made anew."""
    missing = MissingTools(MANY)
    for number in range(40):
        _ask(missing, "nope", caller=Caller("ada", scopes=frozenset({"*"}), toolset=Toolset(f"{number}", ("*_7_*",))))

    assert len(missing) == 16
