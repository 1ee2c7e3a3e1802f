"""Answers are given again only where they are right for the other call, too."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from sidecall import (
    Cache,
    InjectedState,
    InjectedStore,
    InjectedToolArg,
    InjectedToolCallId,
    Secret,
    Store,
    ToolAnnotations,
    ToolContext,
    ToolGuardrailFunctionOutput,
    ToolRuntime,
    tool,
)
from sidecall.kernel.core.errors import InvalidToolOption

READS = ToolAnnotations(read_only=True)


def plain(
    a: Annotated[int, InjectedState("a")], b: Annotated[int, InjectedToolArg], c: Annotated[str, Secret("C")]
) -> str:
    """Read."""
    return f"{a}{b}{c}"


def with_id(call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Read."""
    return call_id


def with_context(ctx: ToolContext) -> str:
    """Read."""
    return ctx.tool_name


def with_store(store: Annotated[Store, InjectedStore]) -> str:
    """Read."""
    return str(store)


def with_runtime(runtime: ToolRuntime) -> str:
    """Read."""
    return str(runtime)


def allow(_: Any) -> ToolGuardrailFunctionOutput:
    """Allow."""
    return ToolGuardrailFunctionOutput.allow()


def test_a_tool_that_calls_are_told_apart_for_may_have_a_cache() -> None:
    """By what it takes of state, context and secrets."""
    offered = tool("read", cache=Cache(ttl=60), annotations=READS)(plain)

    assert offered.compiled.options.cache == Cache(ttl=60, per_caller=True)


@pytest.mark.parametrize(
    ("function", "options", "reason"),
    [
        (plain, {"annotations": None}, "is for tools with annotations=ToolAnnotations(read_only=True)."),
        (
            plain,
            {"annotations": {"idempotent": True}},
            "is for tools with annotations=ToolAnnotations(read_only=True).",
        ),
        (plain, {"requires_approval": True}, "does not go with `requires_approval`: a person approves each call."),
        (plain, {"requires_approval": lambda _: False}, "does not go with `requires_approval`"),
        (plain, {"tool_output_guardrails": [allow]}, "does not go with `tool_output_guardrails`"),
        (with_id, {}, "does not go with the parameter `call_id`, which gets the call's id"),
        (with_context, {}, "does not go with the parameter `ctx`, which gets a ToolContext"),
        (with_store, {}, "does not go with the parameter `store`, which gets the store"),
        (with_runtime, {}, "does not go with the parameter `runtime`, which gets what is made for each call"),
    ],
)
def test_other_tools_may_not(function: Callable[..., Any], options: dict[str, Any], reason: str) -> None:
    """They stop the start, and the error names file, tool and reason."""
    offered = tool("read", **{"cache": Cache(ttl=60), "annotations": READS, **options})(function)

    with pytest.raises(InvalidToolOption) as caught:
        _ = offered.compiled

    assert f"test_cacheable.py:{function.__code__.co_firstlineno}: tool 'read': option `cache` {reason}" in str(
        caught.value
    )


@pytest.mark.parametrize("ttl", [0, -1, 86_401, float("nan"), float("inf"), "60", True, None])
def test_an_answer_lives_for_seconds(ttl: Any) -> None:
    """Up to a day."""
    with pytest.raises(InvalidToolOption) as caught:
        Cache(ttl=ttl)

    assert str(caught.value) == "the `ttl` of a Cache is seconds, more than 0 and up to 86400"


def test_per_caller_is_a_switch() -> None:
    """Nothing else is meant by it."""
    with pytest.raises(InvalidToolOption):
        Cache(ttl=1, per_caller="yes")  # type: ignore[arg-type]
