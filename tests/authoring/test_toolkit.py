"""A toolkit is an instance that offers several tools."""

import pytest

from app import BaseTool, BaseToolkit, tool


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


def test_a_toolkit_shares_its_settings_with_its_tools() -> None:
    """Fields may be of any type."""
    (greet,) = Greetings(word="Hola", client=Client()).get_tools()

    assert greet.invoke({"name": "Bo"}) == "Hola Bo"


def test_a_toolkit_has_to_say_its_tools() -> None:
    """`get_tools` is abstract."""

    class Empty(BaseToolkit):
        """Nothing."""

    with pytest.raises(TypeError, match="get_tools"):
        Empty()  # type: ignore[abstract]  # what is being refused
