"""The registry holds tools in order, under names that are theirs alone."""

from typing import Any

import pytest

from sidecall import (
    BaseCallbackHandler,
    Registry,
    StructuredTool,
    ToolGuardrailFunctionOutput,
    ToolMessage,
    tool,
)
from sidecall.kernel.core.errors import InvalidToolOption, ToolAlreadyRegistered
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline


def _named(name: str) -> StructuredTool:
    return tool(name, description="Do it.")(lambda: None)


def test_tools_stay_in_the_order_they_came() -> None:
    """Clients cache the list."""
    b, a = _named("b").compiled, _named("a").compiled
    registry = Registry([b, a])

    assert registry.names == ["b", "a"]
    assert list(registry) == [b, a]
    assert len(registry) == 2


def test_a_tool_is_found_by_its_exact_name() -> None:
    """Case counts."""
    search = _named("search").compiled
    registry = Registry([search])

    assert registry.get("search") is search
    assert registry.get("Search") is None


def test_two_tools_of_one_name_are_refused_with_both_places() -> None:
    """The author sees where they are, and what to write instead."""
    with pytest.raises(ToolAlreadyRegistered) as caught:
        Registry([_named("same").compiled, _named("same").compiled])

    assert caught.value.message.startswith("Two tools are called 'same': tests/kernel/test_registry.py:")
    assert caught.value.message.endswith("Give one another name, for instance @tool('same_2').")


def test_the_same_tool_twice_is_one_tool() -> None:
    """A toolkit and a module may both offer it."""
    same = _named("same").compiled

    assert Registry([same, same]).names == ["same"]


def test_all_tools_are_replaced_at_once() -> None:
    """The version says that they were."""
    registry = Registry([_named("old").compiled])
    before = registry.version

    registry.replace([_named("new").compiled])

    assert registry.names == ["new"]
    assert registry.version == before + 1


def test_a_replacement_that_is_refused_changes_nothing() -> None:
    """A server that reloads keeps what it had."""
    registry = Registry([_named("old").compiled])
    before = registry.version

    with pytest.raises(ToolAlreadyRegistered):
        registry.replace([_named("same").compiled, _named("same").compiled])

    assert (registry.names, registry.version) == (["old"], before)


def test_tools_can_be_added_after_the_others() -> None:
    """As they are written, or compiled already."""
    registry = Registry([_named("first").compiled])

    registry.add(_named("second"), _named("third").compiled)

    assert registry.names == ["first", "second", "third"]


def test_an_addition_that_is_refused_changes_nothing() -> None:
    """Not even the tools beside the wrong one are added."""
    registry = Registry([_named("first")])

    with pytest.raises(ToolAlreadyRegistered):
        registry.add(_named("second"), _named("first"))

    assert registry.names == ["first"]


class Diary(BaseCallbackHandler):
    """Write down which tools end."""

    def __init__(self, name: str, heard: list[str]) -> None:
        self.name = name
        self.heard = heard

    def on_tool_end(self, output: ToolMessage, **_: Any) -> None:
        """Note an end."""
        self.heard.append(f"{self.name}: {output.name}")


def marking(mark: str) -> Any:
    """Make a guardrail that adds to the text it judges, be it the argument or the output."""

    def judge(data: Any) -> ToolGuardrailFunctionOutput:
        output = getattr(data, "output", None)
        changed = {"text": data.args["text"] + mark} if output is None else output + mark
        return ToolGuardrailFunctionOutput.replace(changed)

    return judge


def echo(heard: list[str] | None = None) -> StructuredTool:
    """Make a tool with hooks of its own, which gives its argument back."""

    @tool(
        callbacks=[Diary("tool", [] if heard is None else heard)],
        tool_input_guardrails=[marking("b")],
        tool_output_guardrails=[marking("d")],
    )
    async def echo(text: str) -> str:
        """Echo."""
        return text

    return echo


async def _run(registry: Registry, name: str = "echo") -> Any:
    pipeline = make_pipeline(registry)
    return (await pipeline.run(write_request(name, {"text": "-"}))).content


async def test_a_registrys_guardrails_judge_before_the_tools_own() -> None:
    """What goes in and what comes out, of tools that are added later too."""
    registry = Registry(tool_input_guardrails=[marking("a")], tool_output_guardrails=[marking("c")])

    registry.add(echo())

    assert await _run(registry) == "-abcd"


async def test_a_registrys_handlers_hear_of_every_tool() -> None:
    """Besides the tool's own."""
    heard: list[str] = []
    quiet = tool("quiet", description="Say nothing.")(_nothing)
    registry = Registry([echo(heard), quiet], callbacks=[Diary("registry", heard)])

    await _run(registry)
    await _run(registry, "quiet")

    assert sorted(heard) == ["registry: echo", "registry: quiet", "tool: echo"]


async def _nothing(text: str) -> str:
    return text


async def test_a_tool_is_not_changed_by_where_it_is_offered() -> None:
    """Another registry, or a call in process, knows nothing of the hooks."""
    offered = echo()
    Registry([offered], tool_output_guardrails=[marking("c")])

    assert await _run(Registry([offered])) == "-bd"
    assert await offered.ainvoke({"text": "-"}) == "-bd"


async def test_tools_that_are_offered_again_are_hooked_once() -> None:
    """To keep some of the present tools, one iterates over them."""
    registry = Registry([echo(), _named("other")], tool_output_guardrails=[marking("c")])

    registry.replace([it for it in registry if it.name == "echo"])

    assert await _run(registry) == "-bcd"


@pytest.mark.parametrize(
    ("hooks", "expected"),
    [
        ({"callbacks": [object()]}, "a callback handler has one of on_tool_start, on_tool_end, on_tool_error"),
        ({"tool_input_guardrails": ["no"]}, "a guardrail is a function, not str"),
        ({"tool_output_guardrails": [5]}, "a guardrail is a function, not int"),
    ],
)
def test_wrong_hooks_are_refused_at_the_start(hooks: Any, expected: str) -> None:
    """Before any tool is offered."""
    with pytest.raises(InvalidToolOption, match=expected):
        Registry([], **hooks)


def test_tools_of_others_stand_after_our_own() -> None:
    """No matter what is loaded again, and which file had a name first."""

    @tool
    def ours() -> str:
        """Be ours."""
        return "ours"

    @tool
    def theirs() -> str:
        """Be another's."""
        return "theirs"

    @tool("ours")
    def same() -> str:
        """Be another's, of the same name."""
        return "same"

    registry = Registry([ours])
    registry.put_source("others", [theirs.compiled, same.compiled], gives_way=True)
    before = registry.get("theirs")
    registry.replace([ours])

    assert (registry.names, registry.own_names) == (["ours", "theirs"], ["ours"])
    assert registry.get("ours") is ours.compiled
    assert registry.get("theirs") is before
    assert registry.list_source("others") == (theirs.compiled, same.compiled)
    registry.replace([])
    assert registry.names == ["theirs", "ours"]
    registry.put_source("others", [], gives_way=True)
    assert registry.names == []
