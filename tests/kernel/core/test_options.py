"""What an author may say about a tool has defaults that change nothing, and does not change."""

import dataclasses

import pytest
from pydantic import ValidationError

from sidecall import ToolAnnotations
from sidecall.kernel.core.options import ToolOptions

ORDINARY = {
    "return_direct": False,
    "response_format": "content",
    "tags": (),
    "metadata": {},
    "deprecated": None,
    "timeout": None,
    "timeout_behavior": "error_as_result",
    "timeout_error_function": None,
    "executor": None,
    "command": None,
    "cost": None,
    "memory_limit_mb": None,
    "unknown_args": None,
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
    "preview": None,
    "strict": None,
    "max_concurrency": None,
    "sequential": False,
    "retry": None,
    "max_content_bytes": None,
    "background": False,
    "native": (),
    "toolset": None,
    "input": None,
    "grammar": None,
    "idempotency": None,
    "cache": None,
    "scopes": (),
    "rate": None,
    "queue": None,
    "is_for_all": True,
    "is_remembered": False,
}


def test_a_tool_without_options_is_an_ordinary_one() -> None:
    """Nobody listens, nobody judges, nobody is asked, and every failure is the model's to read."""
    options = ToolOptions()

    assert {field.name: getattr(options, field.name) for field in dataclasses.fields(options)} == ORDINARY


def test_options_cannot_be_changed_while_calls_run() -> None:
    """All calls of a tool share them."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        ToolOptions().requires_approval = True  # type: ignore[misc]  # what is being refused


def test_all_three_have_a_name() -> None:
    """As MCP has them."""
    assert ToolAnnotations(read_only=False, destructive=True, idempotent=True).mcp == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
    }


def test_an_unknown_one_is_refused() -> None:
    """A typing error must not pass for a promise."""
    with pytest.raises(ValidationError):
        ToolAnnotations(readonly=True)
