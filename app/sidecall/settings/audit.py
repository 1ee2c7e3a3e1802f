"""Settings for the audit log."""

from pydantic import Field
from pydantic_settings import BaseSettings


class AuditSettings(BaseSettings, defer_build=True):
    """How much of the audit log is kept, and for how long."""

    audit_ttl: float = Field(
        default=7_776_000.0,
        gt=0,
        le=315_360_000,
        allow_inf_nan=False,
        description="Seconds for which decisions and refusals are kept in the audit log.",
    )
    max_audit_entries: int = Field(
        default=100_000,
        ge=2,
        description="Most entries of the audit log, and half as many about refusals; the oldest are deleted.",
    )
