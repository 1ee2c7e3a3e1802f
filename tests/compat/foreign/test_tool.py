"""A tool that another library made is a tool like any other."""

import inspect
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from sidecall import InjectedToolArg
from sidecall.compat.foreign.tool import CONTEXT, ForeignTool, set_signature
from sidecall.compiler.signature import SingleInputArgsSchema
from sidecall.kernel.core.errors import InvalidToolOption, MissingContext
from sidecall.kernel.core.tool import EMPTY, Parameter

HIDDEN = Parameter("user", inspect.Parameter.KEYWORD_ONLY, Annotated[str, InjectedToolArg], EMPTY)


class Query(BaseModel):
    """Arguments of one's own."""

    query: str


class Elsewhere:
    """What an author wrote."""


def shout(text: str) -> str:
    """Shout."""
    return text.upper()


def made(made_from: Any, **options: Any) -> ForeignTool:
    """Make a tool of one text and a hidden value."""

    async def call(**arguments: Any) -> str:
        return f"{arguments.pop(CONTEXT).tool_name} {arguments}"

    given = {"name": "it", "description": "It.", **options}
    return ForeignTool.wrap(made_from, set_signature(call, [HIDDEN]), SingleInputArgsSchema("it"), **given)


def test_it_gets_its_arguments_by_name_and_the_context_beside_them() -> None:
    """Hidden ones too, which a caller has to supply."""
    assert made(shout).invoke({"any": "x"}, context={"user": "ada"}) == "it {'tool_input': 'x', 'user': 'ada'}"
    with pytest.raises(MissingContext):
        made(shout).invoke({"any": "x"})


def test_an_args_schema_of_ones_own_wins() -> None:
    """Over what the tool says itself."""
    narrowed = made(shout, args_schema=Query)

    assert list(narrowed.compiled.args_schema.flat["properties"]) == ["query"]
    assert narrowed.invoke({"query": "x"}, context={"user": "ada"}) == "it {'query': 'x', 'user': 'ada'}"


def test_what_it_was_made_from_is_named_and_can_be_called() -> None:
    """If it is a function."""
    assert made(shout).compiled.source.startswith("tests/compat/foreign/test_tool.py:")
    assert made(Elsewhere()).compiled.source == "tests.compat.foreign.test_tool.Elsewhere"
    assert made(shout)("x") == "X"
    with pytest.raises(InvalidToolOption, match="tool 'it' is no function; call it with invoke or ainvoke"):
        made(Elsewhere())("x")
