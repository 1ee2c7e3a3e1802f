"""A handler is looked at once: what it has, and what its methods take."""

from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.callbacks import BaseCallbackHandler as LangChainHandler

from sidecall import BaseCallbackHandler
from sidecall.kernel.core.callbacks import make_callback
from sidecall.kernel.core.errors import InvalidToolOption

DETAILS = {"run_id": UUID(int=1), "tags": ["web"], "name": "search"}


class OnlyErrors:
    """Hear of errors."""

    def on_tool_error(self, error: BaseException) -> None:
        """Hear nothing but the error."""


class Choosy:
    """Take some of the keyword arguments."""

    async def on_tool_start(self, serialized: Any, input_str: str, *, name: str, tags: list[str]) -> None:
        """Take two."""

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        """Take all."""


class Deaf(Choosy):
    """Turn the events of tools off, as LangChain's handlers do."""

    ignore_agent = True


class Listening(Choosy):
    """Leave them on."""

    ignore_agent = False


class Member:
    """Have something of a method's name that is none."""

    on_tool_start = "soon"


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (OnlyErrors(), {"on_tool_error": False}),
        (Choosy(), {"on_tool_start": True, "on_tool_end": False}),
        (Listening(), {"on_tool_start": True, "on_tool_end": False}),
        (Deaf(), {}),
        (BaseCallbackHandler(), {"on_tool_start": False, "on_tool_end": False, "on_tool_error": False}),
        (LangChainHandler(), {"on_tool_start": False, "on_tool_end": False, "on_tool_error": False}),
        (AsyncCallbackHandler(), {"on_tool_start": True, "on_tool_end": True, "on_tool_error": True}),
    ],
    ids=lambda value: type(value).__qualname__,
)
def test_the_methods_that_a_handler_has_are_found(handler: Any, expected: dict[str, bool]) -> None:
    """With whether they are async; those it does not have are never called."""
    callback = make_callback(handler)

    assert {event: listener.is_async for event, listener in callback.methods.items()} == expected


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        pytest.param("on_tool_start", {"tags": ["web"], "name": "search"}, id="those it names"),
        pytest.param("on_tool_end", DETAILS, id="all"),
    ],
)
def test_a_method_is_given_what_it_takes(event: str, expected: dict[str, Any]) -> None:
    """A handler need not know every keyword argument there is."""
    listener = make_callback(Choosy()).methods[event]

    assert listener.pick(DETAILS) == expected


def test_a_method_that_takes_none_is_given_none() -> None:
    """Only the event's own arguments."""
    assert make_callback(OnlyErrors()).methods["on_tool_error"].pick(DETAILS) == {}


@pytest.mark.parametrize(
    ("handler", "kind"),
    [(object(), "object"), (print, "builtin_function_or_method"), (Member(), "Member"), (None, "NoneType")],
    ids=["object", "function", "member", "None"],
)
def test_what_is_no_handler_is_refused(handler: Any, kind: str) -> None:
    """The message names the methods."""
    with pytest.raises(InvalidToolOption) as caught:
        make_callback(handler)

    assert caught.value.message == (
        f"a callback handler has one of on_tool_start, on_tool_end, on_tool_error; {kind} has none"
    )


def test_a_class_in_place_of_its_instance_is_refused() -> None:
    """Each of its events would fail for want of a `self`, long after the start."""
    with pytest.raises(InvalidToolOption):
        make_callback(OnlyErrors)


async def test_the_base_handler_hears_in_silence() -> None:
    """A subclass defines what it needs."""
    handler = BaseCallbackHandler()

    answers = (
        handler.on_tool_start({}, "{}", run_id=UUID(int=1)),
        handler.on_tool_end("", run_id=UUID(int=1)),
        handler.on_tool_error(ValueError(), run_id=UUID(int=1)),
    )

    assert answers == (None, None, None)
