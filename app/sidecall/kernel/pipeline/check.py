"""Validate a call's arguments without running its tool."""

from sidecall.kernel.core.errors import InvalidArguments, ToolFailure
from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.pipeline.decode import decode
from sidecall.kernel.pipeline.inject import inject
from sidecall.kernel.pipeline.validate import validate_at_once


def try_arguments(invocation: Invocation) -> ToolFailure | None:
    """Return the failure with which the call would begin, or None.

    Arguments that would be dropped are failures here too, since the sender asked about them.

    Raises:
        MissingContext: The caller left something out.
    """
    try:
        for stage in (decode, inject, validate_at_once):
            stage(invocation)
    except ToolFailure as failure:
        return failure
    if invocation.ignored:
        return InvalidArguments([_refuse(name) for name in dict.fromkeys(invocation.ignored)])
    return None


def _refuse(name: str) -> FieldError:
    return {"loc": [name], "type": "extra_forbidden", "msg": "The tool has no such argument"}
