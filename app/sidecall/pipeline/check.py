"""Try a call's arguments without running its tool."""

from sidecall.core.errors import ToolFailure
from sidecall.core.invocation import Invocation
from sidecall.pipeline.decode import decode
from sidecall.pipeline.inject import inject
from sidecall.pipeline.validate import validate


async def check_arguments(invocation: Invocation) -> ToolFailure | None:
    """Return the failure that running the call would begin with, or None.

    Raises:
        MissingContext: The caller left something out.
    """
    try:
        for stage in (decode, inject, validate):
            await stage(invocation)
    except ToolFailure as failure:
        return failure
    return None
