"""Functions as an author might write them: any names, any kinds of parameters, any types."""

import asyncio
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from sidecall import StructuredTool, ToolMessage, tool
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.definitions import render_definitions
from tests.kit.calls import run
from tests.properties.classes import kinds
from tests.properties.composites import Kinds
from tests.properties.json_values import Values, texts
from tests.properties.kinds import ANYTHING, MARK, Kind

# What parameters may be called and what trips those who take the names for their own.
NAMES = (
    "self cls args kwargs model_config model_fields _x __y schema type copy class_ json validate id name p0 p1 extra"
    " größe 名前 π state context tool_input input func title properties required description default store"
    " construct dict model_dump signature values fields args_schema __arg1 model_extra"
).split()

_HEADER = """import datetime, decimal, enum, pathlib, uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, Union
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict
from sidecall import InjectedState, InjectedStore, InjectedToolArg, InjectedToolCallId, Store, ToolContext
CALLS = []
"""


@dataclass(frozen=True)
class Parameter:
    """Describe one parameter: `place` is one of PLACES, `key` its name in JSON, `default` the source of its default."""

    name: str
    place: str
    kind: Kind
    annotation: str
    default: str | None
    key: str

    @property
    def text(self) -> str:
        """The parameter as it stands in the signature."""
        said = f"{self.name}: {self.annotation}" if self.annotation else self.name
        return _VARIADIC.get(self.place, "") + said + ("" if self.default is None else f" = {self.default}")

    @property
    def good(self) -> Values:
        """Draw what it takes."""
        if self.place == "*args":
            return st.lists(self.kind.good, max_size=3)
        return self.kind.good | st.none() if self.default == "None" else self.kind.good

    @property
    def bad(self) -> Values:
        """Draw what it refuses."""
        if self.place == "*args":
            return self.kind.bad_or_null.map(lambda value: [value]) | st.just(MARK)
        return self.kind.bad_or_null if self.is_required or self.place == "**kwargs" else self.kind.bad

    @property
    def is_required(self) -> bool:
        """Whether a call has to say it."""
        return self.default is None and self.place not in _VARIADIC


# Positional-only, normal, any number of positional ones, keyword-only, any number of keywords.
PLACES = ("/", "", "*args", "*", "**kwargs")
_VARIADIC = {"*args": "*", "**kwargs": "**"}


@dataclass(frozen=True, repr=False)
class Program:
    """Describe a module with one tool in it."""

    parameters: tuple[Parameter, ...]
    is_async: bool
    is_postponed: bool

    def __repr__(self) -> str:
        return f"Program({_signature(self.parameters)})"

    @property
    def source(self) -> str:
        """The text of the module."""
        definitions = dict.fromkeys(text for one in self.parameters for text in one.kind.definitions)
        return "\n".join(
            [
                "from __future__ import annotations" if self.is_postponed else "",
                _HEADER,
                *definitions,
                f"{'async ' if self.is_async else ''}def generated({_signature(self.parameters)}):",
                "    CALLS.append(locals())",
                "    return 'done'",
            ]
        )


def _signature(parameters: tuple[Parameter, ...]) -> str:
    parts = {place: [it.text for it in parameters if it.place == place] for place in PLACES}
    slash = ["/"] if parts["/"] else []
    star = ["*"] if parts["*"] and not parts["*args"] else []
    texts = [*parts["/"], *slash, *parts[""], *parts["*args"], *star, *parts["*"], *parts["**kwargs"]]
    return ", ".join(texts)


@dataclass(frozen=True)
class Made:
    """Hold the tool of a program, and what it was called with."""

    tool: StructuredTool
    module: dict[str, Any]

    @property
    def schema(self) -> Schema:
        """What `GET /tools` advertises."""
        parameters: Schema = render_definitions([self.tool.compiled], "openai")[0]["function"]["parameters"]
        return parameters

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What the function got, call by call."""
        calls: list[dict[str, Any]] = self.module["CALLS"]
        return calls

    def call(self, args: Any, **beside: Any) -> ToolMessage:
        """Call the tool as a model does.

        Hypothesis ends cases by exceptions that an event loop must not meet, so only the call is async, not the test.
        """
        return asyncio.run(run(self.tool, args, **beside))


@contextmanager
def running(program: Program, **options: Any) -> Iterator[Made]:
    """Run a module, which is importable until the end, and make a tool of its function."""
    module = types.ModuleType("generated_module")
    sys.modules[module.__name__] = module
    try:
        exec(compile(program.source, "generated_module.py", "exec", dont_inherit=True), module.__dict__)
        yield Made(tool(**options)(module.__dict__["generated"]), module.__dict__)
    finally:
        del sys.modules[module.__name__]


# The last is no annotation at all.
_ANNOTATIONS = ("{}", "{}", "{}", "Annotated[{}, 'What it is.']", "Annotated[{}, Field(description='What it is.')]", "")
_ALIASED = "Annotated[{}, Field(alias={!r})]"
_UNTYPED = replace(ANYTHING, source="")


def parameters(kinds: Kinds = kinds, places: tuple[str, ...] = PLACES) -> st.SearchStrategy[Parameter]:
    """Draw a parameter."""
    return st.builds(
        _parameter,
        st.sampled_from(NAMES),
        st.sampled_from(places),
        kinds,
        st.sampled_from(_ANNOTATIONS),
        st.booleans(),
        st.sampled_from(("required", "required", "own", "None")),
    )


def _parameter(name: str, place: str, kind: Kind, form: str, has_alias: bool, default: str) -> Parameter:
    is_free = place in _VARIADIC
    kind = kind if form else _UNTYPED
    has_alias = has_alias and not is_free and kind is not _UNTYPED
    key = f"the {name}" if has_alias else name
    annotation = _ALIASED.format(kind.source, key) if has_alias else form.format(kind.source)
    choices = {"required": None, "own": kind.default, "None": "None"}
    return Parameter(
        name=name,
        place=place,
        kind=kind,
        annotation=kind.source if is_free else annotation,
        default=None if is_free else choices[default],
        key=key,
    )


def in_order(drawn: list[Parameter]) -> tuple[Parameter, ...]:
    """Sort parameters as Python wants: by place, one of each variadic, no required one after one with a default."""
    first = {it.place: it for it in drawn if it.place in _VARIADIC}
    chosen = [it for it in drawn if it.place not in _VARIADIC or first[it.place] is it]
    chosen.sort(key=lambda it: (PLACES.index(it.place), not it.is_required if it.place == "" else 0))
    seen = False
    for index, it in enumerate(chosen):
        if it.place in ("/", ""):
            seen = seen or not it.is_required
            chosen[index] = replace(it, default=it.default or "None") if seen else it
    return tuple(chosen)


def arguments(program: Program, spoiled: Parameter | None = None) -> Values:
    """Draw a call's arguments that fit; the spoiled parameter's do not."""
    values = {it.key: it.bad if it is spoiled else it.good for it in program.parameters if it.place != "**kwargs"}
    needed = {it.key for it in program.parameters if it.is_required or it is spoiled}
    required = {key: value for key, value in values.items() if key in needed}
    optional = {key: value for key, value in values.items() if key not in needed}
    named = st.fixed_dictionaries(required, optional=optional)
    free = next((it for it in program.parameters if it.place == "**kwargs"), None)
    if free is None:
        return named
    keys = texts().map(lambda text: f"more {text}")
    value, least = (free.bad, 1) if free is spoiled else (free.good, 0)
    return st.builds(lambda one, two: {**one, **two}, named, st.dictionaries(keys, value, min_size=least, max_size=2))


def programs(one: st.SearchStrategy[Parameter] | None = None) -> st.SearchStrategy[Program]:
    """Draw a module with one tool of up to four parameters."""
    drawn = st.lists(parameters() if one is None else one, max_size=4, unique_by=lambda it: it.name)
    return st.builds(Program, drawn.map(in_order), st.booleans(), st.booleans())
