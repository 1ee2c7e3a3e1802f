"""Rules: decisions that hold for a caller's later calls of a tool."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.core.errors import RequestError, SidecallError

DecisionName = Literal["approve", "reject"]


class ApprovalRule(BaseModel, defer_build=True):
    """What a person has decided about all calls of one tool by one caller.

    It holds for the tool as it was defined then; one that is defined otherwise is another one.
    """

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    id: str = Field(description="A UUIDv7.")
    tool: str = Field(description="Whose calls are decided about.")
    caller: str = Field(description="Who sends them.")
    tenant: str = Field(exclude=True)
    definition: str = Field(description="The tool's `hash`, without which the rule does not hold.")
    decision: DecisionName
    reason: str | None = Field(default=None, description="What the person said; the model sees it when they rejected.")
    decided_by: str
    decided_at: datetime
    expires_at: datetime | None = Field(default=None, description="Until when it holds; null where that has no end.")
    approval_id: str = Field(description="The approval with which it was decided.")

    def describe(self) -> dict[str, Any]:
        """Return the description of the rule for the answer of a call that it decided."""
        return self.model_dump(mode="json", include={"id", "decision", "decided_by", "decided_at"})


class RulePage(Struct, frozen=True):
    """A page of a list, and the start of the next one; None on the last page."""

    rules: Sequence[ApprovalRule]
    cursor: str | None = None


class ApprovedByRule(SidecallError):
    """The call is approved by a rule, and has to run from the top."""

    def __init__(self, rule: ApprovalRule) -> None:
        super().__init__()
        self.rule = rule


class UnknownRule(RequestError):
    """There is no such rule, or it has expired."""

    problem = (404, "unknown-rule")


class TooManyRules(RequestError):
    """So many decisions hold for later calls that this server keeps no more; revoke some, or decide this call alone."""

    problem = (409, "too-many-rules")
