"""Show Prometheus how the calls go."""

import math
from typing import Annotated

from fastapi import APIRouter, Header, Response

from sidecall.features.server_parts import PartsDep
from sidecall.features.status.operation import count_waiting
from sidecall.features.telemetry.metrics import render_page
from sidecall.http.parameters import LateRoute

router = APIRouter(tags=["operations"], route_class=LateRoute)

_EXAMPLE = """# HELP sidecall_calls_total Calls that have ended.
# TYPE sidecall_calls_total counter
sidecall_calls_total{outcome="success",tool="calculator"} 3.0
"""

Accept = Annotated[str, Header(include_in_schema=False)]


@router.get(
    "/metrics",
    operation_id="get_metrics",
    summary="How do the calls go?",
    response_class=Response,
    responses={
        200: {
            "description": "Prometheus' text format, or OpenMetrics where `Accept` asks for it.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": _EXAMPLE}},
        }
    },
)
async def get_metrics(parts: PartsDep, accept: Accept = "") -> Response:
    """Count how many calls each tool had and how they ended, how long they took, and how full the server is.

    With several workers the numbers are those of all of them.
    """
    waiting = await count_waiting(parts.approvals)
    parts.metrics.waiting_approvals = math.nan if waiting is None else waiting.waiting
    parts.metrics.oldest_approval = math.nan if waiting is None else waiting.oldest_seconds or 0.0
    body, media_type = await render_page(parts.metrics, parts.lifecycle, accept)
    return Response(body, headers={"Content-Type": media_type})
