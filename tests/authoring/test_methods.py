"""A decorated method is the tool of the instance it is reached through."""

import asyncio
import gc
import re
import weakref
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pytest
from pydantic import BaseModel

from sidecall import BaseTool, BaseToolkit, Registry, StructuredTool, tool
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption


@tool
def elsewhere(self: int, by: int = 1) -> int:
    """Stand in no class; its parameter is called self all the same."""
    return self + by


class Account:
    """Something with a state."""

    def __init__(self, balance: int = 0) -> None:
        self.balance = balance

    @tool
    def deposit(self, amount: int) -> int:
        """Put money in.

        Args:
            amount: How much.
        """
        self.balance += amount
        return self.balance

    @tool("take_out", tags=["money"])
    async def withdraw(account, amount: int = 1) -> int:  # noqa: N805  any name will do
        """Take money out."""
        account.balance -= amount
        return account.balance

    @tool(infer_schema=False)
    def note(self, text: str) -> str:
        """Write a note."""
        return f"{self.balance}: {text}"

    @tool
    @staticmethod
    def rate(percent: int) -> str:
        """Say a rate."""
        return f"{percent}%"

    @staticmethod
    @tool
    def fee(amount: int) -> str:
        """Say a fee."""
        return f"fee {amount}"

    @tool
    @classmethod
    def open(cls, balance: int) -> str:
        """Open an account."""
        return f"{cls.__name__} {cls(balance).balance}"

    @classmethod
    @tool
    def close(cls, balance: int) -> str:
        """Close an account."""
        return f"{cls.__name__} {balance}"

    @tool
    @lru_cache  # noqa: B019  to be decorated twice
    def cached(self, times: int) -> int:
        """Multiply."""
        return self.balance * times

    def plain(self, amount: int) -> int:
        """Add to nothing."""
        return self.balance + amount

    async def aplain(self, amount: int) -> int:
        """Add to nothing, asynchronously."""
        return self.balance + amount

    @classmethod
    def kind(cls, amount: int) -> str:
        """Say a class."""
        return f"{cls.__name__} {amount}"

    both = StructuredTool.from_function(plain, aplain, name="both")
    outside = elsewhere


class Savings(Account):
    """An account that inherits everything."""


def test_a_method_is_a_tool_of_its_instance() -> None:
    """The model does not see the instance."""
    account = Account(5)

    compiled = account.deposit.compiled

    assert compiled.args_schema.flat == {
        "type": "object",
        "properties": {"amount": {"description": "How much.", "type": "integer"}},
        "required": ["amount"],
    }
    assert (compiled.name, compiled.description, compiled.is_async) == ("deposit", "Put money in.", False)
    assert compiled.source.startswith("tests/authoring/test_methods.py:")
    assert (account.deposit.invoke({"amount": 2}), account.balance) == (7, 7)


def test_a_method_can_still_be_called() -> None:
    """Through the instance and through the class."""
    account = Account(5)

    assert account.deposit(1) == 6
    assert Account.deposit(account, 1) == 7
    assert asyncio.run(account.withdraw(2)) == 5
    assert asyncio.run(Account.withdraw(account, 2)) == 3


def test_each_instance_has_its_own_tool() -> None:
    """And always the same one, for as long as somebody holds it."""
    one, other = Account(1), Savings(100)
    held = one.deposit

    assert one.deposit is held
    assert one.deposit is not other.deposit
    assert (one.deposit.invoke({"amount": 1}), other.deposit.invoke({"amount": 1})) == (2, 101)


def test_a_tool_does_not_keep_its_instance_alive_for_ever() -> None:
    """Only while somebody holds the tool."""
    account = Account(1)
    watched = weakref.ref(account)
    held = account.deposit
    assert held.compiled
    del account

    assert watched() is not None
    del held
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize(
    ("made", "args", "expected"),
    [
        pytest.param(Account(5).withdraw, {"amount": 2}, 3, id="async, with options"),
        pytest.param(Account(5).note, {"__arg1": "x"}, "5: x", id="of one text"),
        pytest.param(Account(5).rate, {"percent": 2}, "2%", id="tool over static"),
        pytest.param(Account.rate, {"percent": 2}, "2%", id="tool over static, through the class"),
        pytest.param(Account.fee, {"amount": 2}, "fee 2", id="static over tool"),
        pytest.param(Account.open, {"balance": 2}, "Account 2", id="of the class"),
        pytest.param(Savings.open, {"balance": 2}, "Savings 2", id="of the subclass"),
        pytest.param(Savings().open, {"balance": 2}, "Savings 2", id="of the class, through an instance"),
        pytest.param(Account(5).cached, {"times": 2}, 10, id="decorated before"),
        pytest.param(Account(5).both, {"amount": 2}, 7, id="both kinds"),
        pytest.param(Account(5).outside, {"self": 1}, 2, id="only assigned in the class"),
        pytest.param(tool(Account(5).plain), {"amount": 2}, 7, id="decorated when bound"),
        pytest.param(tool(Account(5).aplain), {"amount": 2}, 7, id="async, decorated when bound"),
        pytest.param(tool(Savings.kind), {"amount": 2}, "Savings 2", id="class method, decorated when bound"),
    ],
)
def test_every_kind_of_method_can_be_offered(made: BaseTool, args: dict[str, Any], expected: Any) -> None:
    """Static and class methods too, in either order where Python allows it."""
    assert made.invoke(args) == expected


def test_a_class_method_can_still_be_called() -> None:
    """As before."""
    assert (Savings.open(3), Account.rate(3), Account.fee(3)) == ("Savings 3", "3%", "fee 3")


@pytest.mark.parametrize(
    ("made", "name", "method"),
    [
        pytest.param(Account.deposit, "deposit", "deposit", id="decorated"),
        pytest.param(Account.withdraw, "take_out", "withdraw", id="under another name"),
        pytest.param(tool(Account.plain), "plain", "plain", id="decorated through the class"),
        pytest.param(tool("text", infer_schema=False)(Account.plain), "text", "plain", id="of one text"),
    ],
)
def test_a_method_without_an_instance_is_refused(made: BaseTool, name: str, method: str) -> None:
    """At registration, with what to do instead."""
    with pytest.raises(DefinitionError) as caught:
        Registry([made])

    where, _, text = caught.value.message.partition(": ")
    assert where.startswith("tests/authoring/test_methods.py:")
    assert text == (
        f"tool {name!r} is a method of Account and has no instance. Make one and offer its method, "
        f"Account(...).{method}; for a class method, write @tool above @classmethod."
    )


def test_classmethod_over_tool_is_refused() -> None:
    """Newer Pythons do not let it through to the tool."""
    with pytest.raises(DefinitionError, match="for a class method, write @tool above @classmethod"):
        Registry([Account.close])


def test_a_tool_is_not_decorated_again() -> None:
    """It would hide its options."""
    with pytest.raises(InvalidToolOption) as caught:
        tool(Account.deposit)

    where, text = caught.value.message.split(": ", 1)
    assert re.fullmatch(r"tests/authoring/test_methods.py:\d+", where)
    assert text == "'deposit' is a tool already; offer it as it is."


def test_a_class_with_slots_keeps_its_methods() -> None:
    """The class is made twice then, and the instance cannot hold anything."""

    @dataclass(slots=True)
    class Point:
        x: int

        @tool
        def move(self, by: int) -> int:
            """Move."""
            return self.x + by

    assert Point(2).move.invoke({"by": 3}) == 5


def test_a_class_in_the_body_of_another_is_no_method() -> None:
    """It makes its own instances."""

    class Outer:
        class Inner(BaseModel):
            """Hold a number."""

            x: int

        make = tool(Inner)

    assert Outer().make(x=3) == Outer.Inner(x=3)


class Greeter(BaseTool):
    """A tool that has another one beside it."""

    name: str = "greeter"
    word: str = "Hi"

    def _run(self) -> str:
        return self.word

    @tool
    def greet(self, whom: str) -> str:
        """Greet somebody."""
        return f"{self.word} {whom}"


class Defaults(BaseToolkit):
    """A toolkit with a tool as a field."""

    first: BaseTool = Account.rate


def test_a_method_is_no_field_of_a_pydantic_class() -> None:
    """A tool that is annotated is one."""
    assert Greeter(word="Hej").greet.invoke({"whom": "Bo"}) == "Hej Bo"
    assert sorted(Greeter.model_fields.keys() - BaseTool.model_fields.keys()) == ["word"]
    assert Defaults().first.invoke({"percent": 1}) == "1%"
