"""Settings of durable calls."""

from pydantic import Field
from pydantic_settings import BaseSettings


class JobSettings(BaseSettings, defer_build=True):
    """How many remembered calls run, wait and are kept, and for how long."""

    max_running_jobs: int = Field(
        default=100, ge=1, description="Most remembered calls that run at once, per worker; more are queued."
    )
    max_queued_jobs: int = Field(
        default=10_000, ge=0, description="Most remembered calls that are queued; more are answered with 503."
    )
    share_jobs: bool = Field(
        default=True,
        description="Whether free servers of one PostgreSQL, or workers of one file, begin remembered calls that were "
        "sent to others of them.",
    )
    max_wait: float = Field(
        default=60.0, ge=0, allow_inf_nan=False, description="Most seconds that `Prefer: wait=` makes an answer wait."
    )
    idempotency_ttl: float = Field(
        default=86_400.0,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds that a call is known by its `Idempotency-Key` after its end.",
    )
    job_ttl: float = Field(
        default=604_800.0,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds that a remembered call is kept after its end; longer while its key or approval is known.",
    )
    max_jobs: int = Field(
        default=5_000_000,
        ge=1,
        description="Most remembered calls; the oldest ended ones are forgotten, and where none may be, more get 503.",
    )
    max_job_bytes: int = Field(
        default=4 * 1024 * 1024 * 1024,
        ge=1024,
        description="Most bytes of remembered calls, with their answers, in the same way; 32 MiB at most in memory.",
    )
