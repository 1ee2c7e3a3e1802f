"""A toolkit is an instance that offers several tools."""

from typing import ClassVar

import pytest

from sidecall import BaseTool, BaseToolkit, Registry, tool
from sidecall.kernel.core.errors import DefinitionError


class Client:
    """Some client that pydantic does not know."""


class Greetings(BaseToolkit):
    """Greet in one language."""

    word: str
    client: Client | None = None

    def get_tools(self) -> list[BaseTool]:
        """Return one tool."""

        @tool
        def greet(name: str) -> str:
            """Greet."""
            return f"{self.word} {name}"

        return [greet]


@tool
def elsewhere() -> str:
    """Stand in no class."""
    return "elsewhere"


class Counter(BaseToolkit):
    """Count from somewhere."""

    start: int

    @tool
    def up(self, by: int) -> int:
        """Count up."""
        return self.start + by

    @staticmethod
    @tool
    def zero() -> int:
        """Begin."""
        return 0

    @tool
    def down(self, by: int) -> int:
        """Count down."""
        return self.start - by

    @tool
    @classmethod
    def kind(cls) -> str:
        """Say which counter."""
        return cls.__name__

    @tool
    def _hidden(self) -> int:
        """Stay private."""
        return self.start

    def plain(self) -> int:
        """Stay a method."""
        return self.start

    assigned = elsewhere


class Twice(Counter):
    """Count twice as fast, and only up."""

    @tool
    def half(self) -> float:
        """Halve."""
        return self.start / 2

    @tool
    def up(self, by: int) -> int:
        """Count up by two."""
        return self.start + 2 * by

    down: ClassVar[None] = None  # type: ignore[assignment]  # taken away


def test_a_toolkit_shares_its_settings_with_its_tools() -> None:
    """Fields may be of any type."""
    (greet,) = Greetings(word="Hola", client=Client()).get_tools()

    assert greet.invoke({"name": "Bo"}) == "Hola Bo"


def test_decorated_methods_are_the_tools_of_a_toolkit() -> None:
    """In the order in which they are written, those without underscore."""
    tools = Counter(start=5).get_tools()

    assert [it.name for it in tools] == ["up", "zero", "down", "kind"]
    assert tools[0].invoke({"by": 1}) == 6


def test_a_toolkit_inherits_tools() -> None:
    """It may replace some and take others away."""
    tools = Twice(start=5).get_tools()

    assert [it.name for it in tools] == ["up", "zero", "kind", "half"]
    assert (tools[0].invoke({"by": 1}), tools[2].invoke({})) == (7, "Twice")


def test_a_copy_of_a_toolkit_has_tools_of_its_own() -> None:
    """They follow the instance, not the one it was copied from."""
    original = Counter(start=5)
    assert original.up.invoke({"by": 1}) == 6

    copied = original.model_copy(update={"start": 10})

    assert copied.up.invoke({"by": 1}) == 11
    assert copied.model_dump() == {"start": 10}


def test_a_class_method_below_its_decorator_is_not_forgotten() -> None:
    """It is refused as everywhere, with what to write instead."""

    class Wrong(BaseToolkit):
        """Have the decorators the wrong way round."""

        @classmethod
        @tool
        def kind(cls) -> str:
            """Say which."""
            return cls.__name__

    with pytest.raises(DefinitionError, match=r"is a method of Wrong and has no instance.*write @tool above"):
        Registry(Wrong().get_tools())


def test_a_toolkit_has_to_have_tools() -> None:
    """An empty one is a mistake."""

    class Empty(BaseToolkit):
        """Nothing."""

    with pytest.raises(DefinitionError) as caught:
        Empty().get_tools()

    assert caught.value.message.endswith(
        ".Empty: toolkit Empty has no tools. Decorate its methods with @tool, or define get_tools."
    )
