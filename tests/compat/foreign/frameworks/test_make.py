"""Objects of frameworks become tools by their shape, also where the framework itself is not loaded."""

from types import SimpleNamespace
from typing import Any

import pytest

from sidecall import Command, ToolContext, ToolMessage, tool
from sidecall.compat.foreign.frameworks.make import fit_name
from sidecall.compat.foreign.frameworks.reader import CallState, read_value, with_artifact
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption
from sidecall.loading.discovery import discover
from tests.kit.calls import run
from tests.kit.projects import names, write


def make(package: str, **members: Any) -> Any:
    """Make an object of a class `Tool` of a package."""
    return type("Tool", (), {"__module__": package, **members})()


def _give_back(self: object, **given: Any) -> Any:
    del self
    return given


def themes(**inputs: Any) -> Any:
    """Make a tool of smolagents with these inputs, which answers what it gets."""
    return make(
        "smolagents.tools",
        name="themes",
        description="Find themes.",
        inputs=inputs,
        forward=_give_back,
        __call__=_give_back,
    )


@pytest.mark.parametrize(
    ("said", "schema"),
    [
        ({"type": "string", "description": "A."}, {"type": "string", "description": "A."}),
        ({"type": "any", "description": "A."}, {"description": "A."}),
        ({"type": ["string", "integer"], "description": "A."}, {"type": ["string", "integer"], "description": "A."}),
        (
            {"type": "string", "description": "A.", "nullable": True, "enum": ["x"]},
            {"type": ["string", "null"], "description": "A.", "enum": ["x", None]},
        ),
        (
            {"type": "array", "description": "A.", "items": {"type": "number"}},
            {"type": "array", "description": "A.", "items": {"type": "number"}},
        ),
    ],
)
def test_inputs_of_smolagents_become_a_schema(said: dict[str, Any], schema: dict[str, Any]) -> None:
    """What may be null may be left out."""
    shown = tool(themes(a=said)).compiled.args_schema.json_schema

    assert shown["properties"] == {"a": schema}
    assert shown.get("required", []) == ([] if said.get("nullable") else ["a"])


def test_options_win_over_what_its_author_said() -> None:
    """As for any tool that is taken over."""
    made = tool(themes(a={"type": "string", "description": "A."}), timeout=3, unknown_args="forbid").compiled

    assert (made.name, made.description, made.options.timeout) == ("themes", "Find themes.", 3)
    assert made.args_schema.json_schema["additionalProperties"] is False
    assert tool("other")(themes()).compiled.name == "other"


def test_what_cannot_be_taken_says_why() -> None:
    """And what to do."""
    with pytest.raises(InvalidToolOption, match="its `a` is an image or a sound, which JSON has not; take its address"):
        tool(themes(a={"type": "image", "description": "A."}))


def test_an_object_that_is_not_as_its_library_makes_them_is_no_surprise() -> None:
    """The start stops, with what is missing."""
    strange = type("Function", (), {"__module__": "agno.tools.function"})()

    with pytest.raises(DefinitionError, match="cannot be taken over: AttributeError: "):
        tool(strange)


FILE = """
class Tool:
    inputs = {"a": {"type": "string", "description": "A."}}
    description = "It."

    def forward(self, a):
        return a

    __call__ = forward


Tool.__module__ = "smolagents.tools"


class Own(Tool):
    name = "own"


class Left(Tool):
    name = "left"


class Picture(Tool):
    name = "picture"
    inputs = {"a": {"type": "image", "description": "A."}}


one, picture = Own(), Picture()
more = [Own()]
more[0].name = "second"
"""


def test_a_module_offers_them_and_names_what_is_left(here: Any) -> None:
    """Classes without an object, and tools that cannot be taken."""
    write(here / "mine.py", FILE)
    heard: list[str] = []

    assert names(discover(["mine.py"], tell=lambda it: heard.append(it.text))) == ["own", "second"]
    assert heard == [
        "Left is not offered: it is a class of smolagents, of which there is no object; write tool = Left()",
        "picture is not offered: it is a tool of smolagents that cannot be taken over: its `a` is an image or a sound, "
        "which JSON has not; take its address as a text instead",
    ]


@pytest.mark.parametrize(
    ("name", "fitted"),
    [("add", "add"), ("Add numbers!", "Add_numbers"), ("math-add", "math-add"), ("x" * 70, "x" * 64)],
)
def test_a_name_that_models_cannot_call_is_fitted(name: str, fitted: str) -> None:
    """Other characters become one underline."""
    assert fit_name(name) == fitted


def test_only_what_has_changed_in_the_state_goes_back() -> None:
    """The caller's own object is left as it is."""
    sent = {"cart": ["rice"], "user": "ada"}
    state = CallState(ToolContext(tool_name="t", tool_call_id="1", state=sent))
    assert state.add_update("done") == "done"

    state.values["cart"].append("tea")
    changed = state.add_update("done")

    assert isinstance(changed, Command)
    assert changed.update == {"cart": ["rice", "tea"], "messages": [ToolMessage(content="done")]}
    assert sent == {"cart": ["rice"], "user": "ada"}


def test_an_artifact_that_json_cannot_say_is_left_out() -> None:
    """The answer is still one."""
    assert with_artifact("x", object()) == "x"
    assert with_artifact("x", None) == "x"
    assert with_artifact("x", [1]) == ToolMessage(content="x", artifact=[1])


def test_media_are_blocks_and_other_values_stay() -> None:
    """By the classes of their frameworks."""
    picture = type("ImageContent", (), {"__module__": "haystack.dataclasses"})()
    picture.base64_image, picture.mime_type = "eA==", "image/jpeg"
    block = {"type": "image", "base64": "eA==", "mime_type": "image/jpeg"}

    assert read_value(picture) == [block]
    assert read_value(["a", {"b": 1}, picture]) == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": '{"b": 1}'},
        block,
    ]
    assert read_value({"a": [1]}) == {"a": [1]}
    assert read_value(SimpleNamespace) is SimpleNamespace


async def test_sounds_stay_blocks_beside_an_artifact_and_a_state() -> None:
    """Though LangChain's own tools return none."""
    sound = type("Audio", (), {"__module__": "dspy.adapters"})()
    sound.data, sound.audio_format = "eA==", "wav"
    block = {"type": "audio", "base64": "eA==", "mime_type": "audio/wav"}

    @tool
    def sing() -> Any:
        """Sing."""
        return with_artifact(read_value([sound, "la"]), {"tune": 1})

    @tool
    def sing_on(context: ToolContext) -> Any:
        """Sing, and remember it."""
        state = CallState(context)
        state.values["sung"] = 1
        return state.add_update(read_value(sound))

    beside_artifact, beside_state = await run(sing), await run(sing_on)

    assert (beside_artifact.content, beside_artifact.artifact) == ([block, {"type": "text", "text": "la"}], {"tune": 1})
    assert (beside_state.content, beside_state.response_metadata["state_update"]) == ([block], {"sung": 1})
