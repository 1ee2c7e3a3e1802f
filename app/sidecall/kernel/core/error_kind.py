"""The kinds of failures, as answers name them."""

from typing import Literal

ErrorKind = Literal[
    "unknown_tool",
    "malformed_arguments",
    "invalid_arguments",
    "tool_error",
    "execution_error",
    "not_configured",
    "timeout",
    "output_error",
    "denied",
    "rejected",
    "approval_required",
    "overloaded",
    "missing_context",
    "cancelled",
    "expired",
    "outcome_unknown",
    "contract_changed",
    "key_reused",
]
