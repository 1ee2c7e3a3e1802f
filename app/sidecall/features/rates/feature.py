"""What the feature rates adds to a server."""

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from sidecall.feature import Feature
from sidecall.kernel.core.quota import check_rate


class RateFields(BaseSettings, defer_build=True):
    """How many calls one caller may make."""

    rate_limit: str | None = Field(
        default=None,
        description="Calls that one caller may make, per worker, for instance `100/minute`; more get 429.",
    )
    shared_rates: bool = Field(
        default=False,
        description="Whether all workers and servers of one PostgreSQL count the calls of a caller together.",
    )

    @field_validator("rate_limit")
    @classmethod
    def _is_rate(cls, rate: str | None) -> str | None:
        return None if rate is None else check_rate(rate)


FEATURE = Feature(
    name="rates",
    options=frozenset({"rate"}),
    settings_off={"rate_limit": None, "shared_rates": False},
)
