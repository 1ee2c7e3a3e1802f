"""What an author may say about a tool has defaults that change nothing, and does not change."""

import dataclasses

import pytest

from sidecall import ToolAnnotations
from sidecall.core.options import ToolOptions


def test_a_tool_without_options_is_an_ordinary_one() -> None:
    """Nobody listens, nobody judges, nobody is asked, and every failure is the model's to read."""
    options = ToolOptions()

    assert {field.name: getattr(options, field.name) for field in dataclasses.fields(options)} == {
        "return_direct": False,
        "response_format": "content",
        "tags": (),
        "metadata": {},
        "timeout": None,
        "timeout_behavior": "error_as_result",
        "timeout_error_function": None,
        "executor": None,
        "memory_limit_mb": None,
        "unknown_args": "ignore",
        "extras": {},
        "annotations": ToolAnnotations(),
        "handle_tool_error": False,
        "handle_validation_error": False,
        "failure_error_function": None,
        "callbacks": (),
        "tool_input_guardrails": (),
        "tool_output_guardrails": (),
        "is_enabled": True,
        "requires_approval": False,
        "strict": None,
        "max_concurrency": None,
        "sequential": False,
        "retry": None,
        "max_content_bytes": None,
    }


def test_options_cannot_be_changed_while_calls_run() -> None:
    """All calls of a tool share them."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        ToolOptions().requires_approval = True  # type: ignore[misc]  # what is being refused
