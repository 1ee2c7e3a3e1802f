"""Validate the arguments against the tool's schema; large ones in a thread."""

from collections.abc import Awaitable

from sidecall.kernel.concurrency.pools import ARGUMENTS
from sidecall.kernel.concurrency.turns import key_of
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.json_data.bulk import is_long
from sidecall.kernel.schema.arguments import validate as validate_at_once

__all__ = ["validate", "validate_at_once"]

_CONTAINERS = (list, dict)


def validate(invocation: Invocation) -> Awaitable[None] | None:
    """Validate the arguments like `validate_at_once`; large ones must be awaited."""
    for value in invocation.args.values():
        if type(value) in _CONTAINERS and is_long(value):
            return ARGUMENTS.run_for(key_of(invocation.request.caller), validate_at_once, invocation)
    validate_at_once(invocation)
    return None
