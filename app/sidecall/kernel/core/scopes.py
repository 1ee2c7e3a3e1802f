"""Scopes for the server itself, in addition to those that tools ask for."""

from collections.abc import Mapping

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError

CALL = "tools:call"
READ = "calls:read"
DECIDE = "approvals:decide"
DECIDE_OWN = "approvals:decide_own"
OPERATE = "server:operate"

SERVER_SCOPES: Mapping[str, str] = {
    CALL: "call tools; read, cancel and repeat one's own calls; keep and read one's own contents",
    READ: "read the calls of everybody in one's tenant, and their history",
    DECIDE: "see the approvals of one's tenant, and decide about the calls of others",
    DECIDE_OWN: "approve one's own calls too",
    OPERATE: "read the metrics, the status, the audit and all of `/readyz`, load tools again, accept those of MCP "
    "servers; with `calls:read`, "
    "cancel others' calls",
}


class MissingScope(RequestError):
    """The caller may not do this."""

    problem = (403, "missing-scope")

    def __init__(self, *scopes: str) -> None:
        wanted = " and ".join(f"`{scope}`" for scope in scopes)
        super().__init__(f"This takes the scope {wanted}, which you do not have.", scope=" ".join(scopes))
        self.scopes = scopes


def require_scope(caller: Caller, *scopes: str) -> None:
    """Require that the caller has all of these scopes.

    Raises:
        MissingScope: It has not.
    """
    if not caller.may(*scopes):
        raise MissingScope(*scopes)
