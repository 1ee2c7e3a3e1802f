"""What the feature approvals adds to a server."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.feature import Built, Feature, Host, Route
from sidecall.features.approvals.steps import make_approval_stages
from sidecall.kernel.core.scopes import DECIDE


def build(host: Host) -> Built:
    """Make the steps that suspend calls until a person has decided."""
    return Built(stages=make_approval_stages(host.ledger.approvals, host.ledger.rules))


class ApprovalFields(BaseSettings, defer_build=True):
    """How many calls wait for a person, for how long, and how many decisions hold for later calls."""

    approval_ttl: float = Field(
        default=3600.0,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="Seconds until a call that needs approval is forgotten.",
    )
    max_approvals: int = Field(
        default=5000,
        ge=1,
        description="Most approvals that wait or run, within SIDECALL_MAX_WAITING_BYTES; more are answered "
        "with 503. What is answered does not count.",
    )
    max_approval_rules: int = Field(
        default=10_000, ge=1, description="Most decisions kept that hold for later calls; more are answered with 409."
    )
    max_approval_rules_per_tenant: int = Field(
        default=1000, ge=1, description="Most of them that one tenant keeps; more are answered with 409."
    )
    max_waiting_bytes: int = Field(
        default=32 * 1024 * 1024,
        ge=1024,
        description="Most bytes of approvals kept together, with their calls and answers and 4 KiB beside each; "
        "what is answered makes room, and more are answered with 503.",
    )


FEATURE = Feature(
    name="approvals",
    needs=("audit", "jobs"),
    options=frozenset({"requires_approval"}),
    can_be_off=False,
    forms=("sidecall.features.approvals.routes:ApprovalDecision",),
    routes=(
        Route("GET", "/approvals/rules", "sidecall.features.approvals.rule_routes:list_approval_rules", DECIDE),
        Route(
            "DELETE",
            "/approvals/rules/{rule_id}",
            "sidecall.features.approvals.rule_routes:revoke_approval_rule",
            DECIDE,
        ),
        Route("GET", "/approvals", "sidecall.features.approvals.routes:list_approvals", DECIDE),
        Route("GET", "/approvals/{approval_id}", "sidecall.features.approvals.routes:get_approval"),
        Route("POST", "/approvals/{approval_id}", "sidecall.features.approvals.routes:decide_approval", DECIDE),
    ),
    commands={"approvals": "sidecall.features.approvals.cli:approvals"},
    build=build,
)
