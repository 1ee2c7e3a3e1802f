"""Tools do what LangChain's do as Runnables; what would need a chain says what to do instead."""

import asyncio
import logging
import subprocess
import sys
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool as langchain_tool

from sidecall import tool
from sidecall.authoring.runnable import NOT_ON_TOOLS, merge_configs


def describe(n: int, config: RunnableConfig) -> str:
    """Say what is configured."""
    said = {name: config["configurable"].get(name) for name in ("a", "b")}
    return f"{n} {sorted(config['tags'])} {sorted(config['metadata'])} {said}"


BOTH = [tool(describe), langchain_tool(describe)]
CALLS: list[Any] = [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.fixture(params=BOTH, ids=["ours", "LangChain's"])
def it(request: pytest.FixtureRequest) -> Any:
    """The tool, here and there."""
    return request.param


async def test_calls_are_run_together_and_answered_in_order(it: Any) -> None:
    """With one config for all, or one for each; however many at once."""
    each: list[RunnableConfig] = [{"tags": [tag]} for tag in "abc"]
    plain = [f"{n} [] [] {{'a': None, 'b': None}}" for n in (1, 2, 3)]

    assert it.batch(CALLS) == await it.abatch(CALLS, {"max_concurrency": 1}) == plain
    assert it.batch(CALLS, each) == [f"{n} ['{tag}'] [] {{'a': None, 'b': None}}" for n, tag in enumerate("abc", 1)]
    assert it.batch([]) == await it.abatch([]) == []


async def test_a_failure_is_raised_or_stands_among_the_answers(it: Any) -> None:
    """As the program asks."""
    calls = [{"n": 1}, {"n": "x"}]

    with pytest.raises(Exception, match="n"):
        it.batch(calls)
    first, second = await it.abatch(calls, return_exceptions=True)

    assert (first[:1], isinstance(second, Exception)) == ("1", True)


def test_a_config_for_each_call_is_there_for_each(it: Any) -> None:
    """A missing one is not made up."""
    with pytest.raises(ValueError, match="same length as inputs, but got 1 configs for 3 inputs"):
        it.batch(CALLS, [{}])


async def test_a_stream_has_one_part(it: Any) -> None:
    """The answer."""
    assert list(it.stream({"n": 1})) == [part async for part in it.astream({"n": 1})] == [it.invoke({"n": 1})]


async def test_a_config_stays_with_what_with_config_makes(it: Any) -> None:
    """And is joined with that of a call, and with another."""
    made = it.with_config({"configurable": {"a": 1}}, tags=["t"]).with_config(metadata={"m": 1})

    said = made.invoke({"n": 1}, {"tags": ["u"], "configurable": {"b": 2}})
    later = await made.ainvoke({"n": 1})

    assert said.startswith("1 ['t', 'u'] [")
    assert said.endswith("'m'] {'a': 1, 'b': 2}")
    assert later.endswith("{'a': 1, 'b': None}")
    assert made.batch([{"n": 2}])[0].startswith("2 ['t']")
    assert made.args == it.args


def test_listeners_of_both_configs_hear_of_a_call() -> None:
    """Lists, or LangChain's managers of them."""

    class Manager:
        """Hold handlers."""

        handlers = ("b",)

    assert merge_configs({"callbacks": ["a"]}, {"callbacks": Manager()})["callbacks"] == ["a", "b"]


_WITHOUT = """
import sys
from sidecall import tool

@tool
def it(n: int) -> int:
    "Double."
    return n * 2

for name in {names}:
    assert not hasattr(it, name)
    try:
        getattr(it, name)
    except AttributeError as error:
        assert str(error).startswith("StructuredTool has no " + name + " here: "), error
for chain in (lambda: it | str, lambda: str | it):
    try:
        chain()
    except TypeError as error:
        assert "call tool.invoke(...) and hand its answer on" in str(error)
    else:
        raise AssertionError
assert "langchain_core" not in sys.modules
"""


def test_without_langchain_what_is_not_here_says_what_to_do() -> None:
    """Chains too, which LangChain runs."""
    assert all(hasattr(BOTH[1], name) for name in NOT_ON_TOOLS)

    subprocess.run([sys.executable, "-c", _WITHOUT.format(names=list(NOT_ON_TOOLS))], check=True)


@pytest.mark.parametrize(
    "use",
    [
        lambda it: (it | len).invoke({"n": 1}),
        lambda it: (it | RunnableLambda(len)).batch(CALLS),
        lambda it: ((lambda n: {"n": n}) | it).invoke(1),
        lambda it: (RunnableLambda(lambda n: {"n": n}) | it).invoke(1),
        lambda it: list((it | RunnableLambda(len)).stream({"n": 1})),
        lambda it: ({"n": RunnableLambda(int)} | it).invoke("1"),
        lambda it: asyncio.run((it | RunnableLambda(len)).ainvoke({"n": 1})),
        lambda it: it.with_retry().invoke({"n": 1}),
        lambda it: it.with_fallbacks([it]).invoke({"n": 1}),
        lambda it: it.pipe(len, len).first is it,
        lambda it: it.bind().invoke({"n": 1}),
        lambda it: it.map().invoke(CALLS),
        lambda it: it.get_name(),
        lambda it: len(it.get_graph().nodes),
        lambda it: it.lc_id(),
    ],
)
def test_where_langchain_is_loaded_it_makes_the_chains(use: Any) -> None:
    """And all that else a Runnable has is LangChain's, as if the tool were its own."""
    assert use(BOTH[0]) == use(BOTH[1])


def test_a_verbose_tool_writes_its_calls_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """What it was asked, and what it said; another one does not."""
    caplog.set_level(logging.INFO, "sidecall.tool")

    @tool(verbose=True)
    def loud(n: int) -> int:
        """Double."""
        return n * 2

    loud.invoke({"n": 2})
    BOTH[0].invoke({"n": 1})

    assert [record.getMessage().split("] ")[1] for record in caplog.records] == ["is called with {'n': 2}", "answers 4"]
