"""The deadline that a client sets for its call."""

from typing import Annotated

from fastapi import Depends, Query

from sidecall.kernel.core.deadline import Deadline, allow_seconds
from sidecall.kernel.http.parameters import DECIMAL_NUMBER

_Timeout = Annotated[
    float | None,
    Query(
        alias="timeout",
        gt=0,
        allow_inf_nan=False,
        description="Seconds from now in which you want the answer. They shorten what the tool has, and never lengthen"
        " it; those spent waiting for a place count.",
    ),
    DECIMAL_NUMBER,
]


async def _deadline(seconds: _Timeout = None) -> Deadline | None:
    return None if seconds is None else allow_seconds(seconds)


# None where the client does not say how long it waits.
DeadlineDep = Annotated[Deadline | None, Depends(_deadline)]
