"""Use a Sidecall server from Python: list its tools, run calls, follow and approve them. It takes httpx only."""

from sidecall.client.answers import (
    CallApproval,
    CallEvent,
    CallState,
    Failure,
    PartialAnswer,
    PersonVerdict,
    Progress,
    SignInLink,
    StatusChange,
    ToolAnswer,
)
from sidecall.client.asynchronous import AsyncApprovalDesk, AsyncJob, AsyncSidecall
from sidecall.client.blocking import ApprovalDesk, Job, Sidecall
from sidecall.client.failures import (
    ApprovalNeeded,
    ClientError,
    Conflicting,
    NotAllowed,
    NotAuthenticated,
    NotThere,
    RequestRefused,
    RequestUnfit,
    ServerBusy,
    ServerFailed,
    ServerUnreachable,
    UnknownAnswer,
)
from sidecall.client.turns import Turn

__all__ = [
    "ApprovalDesk",
    "ApprovalNeeded",
    "AsyncApprovalDesk",
    "AsyncJob",
    "AsyncSidecall",
    "CallApproval",
    "CallEvent",
    "CallState",
    "ClientError",
    "Conflicting",
    "Failure",
    "Job",
    "NotAllowed",
    "NotAuthenticated",
    "NotThere",
    "PartialAnswer",
    "PersonVerdict",
    "Progress",
    "RequestRefused",
    "RequestUnfit",
    "ServerBusy",
    "ServerFailed",
    "ServerUnreachable",
    "Sidecall",
    "SignInLink",
    "StatusChange",
    "ToolAnswer",
    "Turn",
    "UnknownAnswer",
]
