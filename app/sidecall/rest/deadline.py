"""Let a client say how long it waits."""

import time
from typing import Annotated

from fastapi import Depends, Query

from sidecall.http.parameters import DECIMAL_NUMBER

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


async def _deadline(seconds: _Timeout = None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds


# A reading of `time.monotonic()`, where the client says how long it waits.
DeadlineDep = Annotated[float | None, Depends(_deadline)]
