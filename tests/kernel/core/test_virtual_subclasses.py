"""Tools and messages pass for LangChain's, and stay what they are."""

import copy
import pickle
import subprocess
import sys
from abc import ABC
from typing import Any, ClassVar

import langchain_core.messages as langchain
import pytest
from langchain_core.load import dumpd
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool as LangChainTool
from langchain_core.tools import BaseToolkit as LangChainToolkit
from langchain_core.tools import StructuredTool as LangChainStructuredTool
from langchain_core.tools import Tool as LangChainSingleTool
from pydantic import BaseModel, TypeAdapter

import sidecall


@sidecall.tool
def search(q: str) -> str:
    """Search."""
    return q


class Look(sidecall.BaseTool):
    """Look."""

    made: ClassVar[list[type]] = []
    name: str = "look"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Look.made.append(cls)

    def _run(self, q: str) -> str:
        return f"{self.__class__.__name__} {q}"


class AbstractLook(Look, ABC):
    """Look, with a base of the author's."""


class Toolkit(sidecall.BaseToolkit):
    """Group tools."""


SINGLE = sidecall.Tool("single", len, "Count.")
TOOL, RUNNABLE, BOTH = (LangChainTool,), (Runnable, LangChainTool), (LangChainTool, LangChainStructuredTool)
MESSAGES = [
    (sidecall.ToolMessage("a", tool_call_id="1"), langchain.ToolMessage("a", tool_call_id="1")),
    (sidecall.HumanMessage("a", id="1"), langchain.HumanMessage("a", id="1")),
    (sidecall.SystemMessage("a"), langchain.SystemMessage("a")),
    (sidecall.AIMessage("a", name="b"), langchain.AIMessage("a", name="b")),
    (sidecall.RemoveMessage("1"), langchain.RemoveMessage("1")),
]


@pytest.mark.parametrize(
    ("it", "kinds", "others"),
    [
        (search, (*RUNNABLE, *BOTH, sidecall.BaseTool, BaseModel), (LangChainSingleTool, langchain.BaseMessage, str)),
        (SINGLE, (*RUNNABLE, LangChainSingleTool, sidecall.Tool), (LangChainStructuredTool, dict)),
        (Look(), (*RUNNABLE, Look), (LangChainStructuredTool, LangChainToolkit)),
        (AbstractLook(), (*RUNNABLE, Look, ABC), (LangChainStructuredTool,)),
        (Toolkit(), (LangChainToolkit, sidecall.BaseToolkit), (LangChainTool,)),
        *((ours, (type(theirs), langchain.BaseMessage, type(ours)), (LangChainTool, str)) for ours, theirs in MESSAGES),
    ],
)
def test_it_is_of_both_classes(it: Any, kinds: tuple[type, ...], others: tuple[type, ...]) -> None:
    """And of no other."""
    assert [kind for kind in kinds if not isinstance(it, kind)] == []
    assert [kind for kind in others if isinstance(it, kind)] == []
    assert type(it).__module__.startswith(("sidecall", __name__))


@pytest.mark.parametrize("it", [search, SINGLE, Look()])
def test_a_model_of_pydantic_takes_it_for_langchains(it: Any) -> None:
    """As it is."""
    assert TypeAdapter(list[LangChainTool]).validate_python([it])[0] is it


def test_an_authors_class_is_the_first() -> None:
    """Its name, its fields, what it makes; and it hears of no other class."""
    it = Look()
    it.tags = ["a"]

    assert isinstance(it, LangChainTool)
    assert it.invoke({"q": "b"}) == "Look b"
    assert type(it.__class__(name="other")) is Look
    assert Look.made == [AbstractLook]
    with pytest.raises(ValueError, match='"Look" object has no field "nothing"'):
        it.nothing = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="'Look' object has no attribute 'nothing_else'"):
        _ = it.nothing_else  # type: ignore[attr-defined]


def test_a_class_that_fits_no_other_stays_alone() -> None:
    """Python has no order for its bases; LangChain could not be given such a class either."""

    class Strange(ABC, Look):
        """Look."""

    assert not isinstance(Strange(), LangChainTool)
    assert Strange().invoke({"q": "a"}) == "Strange a"


@pytest.mark.parametrize("it", [search, Look(), *(ours for ours, _ in MESSAGES)])
def test_it_is_copied_and_sent_as_ever(it: Any) -> None:
    """Its type stays."""
    for made in (copy.copy(it), copy.deepcopy(it), pickle.loads(pickle.dumps(it))):
        assert made == it
        assert type(made) is type(it)


@pytest.mark.parametrize(("ours", "theirs"), MESSAGES, ids=lambda it: it.type)
def test_a_message_is_read_as_langchains(ours: Any, theirs: Any) -> None:
    """By models, traces and checkpoints."""
    assert langchain.convert_to_messages([ours]) == [ours]
    assert ours.pretty_repr() == theirs.pretty_repr()
    assert dumpd(ours)["id"] == dumpd(theirs)["id"]
    ours.id = "2"
    assert ours.model_dump()["id"] == "2"


def test_nothing_is_loaded_for_it() -> None:
    """Where no program has."""
    program = "import sys, sidecall\nit = sidecall.ToolMessage('a')\nassert not isinstance(it, str)\n" + (
        "assert it.__class__ is sidecall.ToolMessage\nassert 'langchain_core' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True)
