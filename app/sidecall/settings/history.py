"""Settings for the history."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.kernel.ports.call_entry import HistoryMode


class HistorySettings(BaseSettings, defer_build=True):
    """How much of the history is kept, and for how long."""

    history: HistoryMode = Field(
        default="full",
        description="What is kept of each call that has ended: `full`, `meta` without arguments and answers, or `off`.",
    )
    history_ttl: float = Field(
        default=604_800.0,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds that a call is kept in the history.",
    )
    max_history_calls: int = Field(
        default=1_000_000, ge=1, description="Most calls in the history; the oldest are forgotten."
    )
    max_history_bytes: int = Field(
        default=512 * 1024 * 1024, ge=1024, description="Most bytes of the history; the oldest calls are forgotten."
    )
    max_history_value_bytes: int = Field(
        default=4096,
        ge=0,
        le=1024 * 1024,
        description="Most bytes of a call's arguments, and of its answer, in the history; longer ones are cut.",
    )
    history_buffer_bytes: int = Field(
        default=8 * 1024 * 1024,
        ge=64 * 1024,
        description="Most bytes of ended calls that wait to be written into the history, per worker; more are left "
        "out.",
    )


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
