"""What the feature approvals adds to a server."""

from sidecall.feature import Built, Feature, Host, Route
from sidecall.features.approvals.steps import make_approval_stages
from sidecall.kernel.core.scopes import DECIDE


def build(host: Host) -> Built:
    """Make the steps that suspend calls until a person has decided."""
    return Built(stages=make_approval_stages(host.ledger.approvals, host.ledger.rules))


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
