# What `__init__.py` loads when it is asked for, for type checkers; a test holds the two equal.

from sidecall.kernel.core.errors import (
    ApprovalConflict,
    GuardrailTripped,
    InvalidDecision,
    MissingContext,
    NotAToolCall,
    RequestError,
    ToolCallFailed,
)
from sidecall.testing.answers import Answer, PendingApproval
from sidecall.testing.recorder import Recorder, record
from sidecall.testing.recording import NotRecorded, UnfitRecording
from sidecall.testing.replayer import Replayer, replay
from sidecall.testing.serving import RunningServer, run_app, run_server
from sidecall.testing.tester import ToolTester

__all__ = [
    "Answer",
    "ApprovalConflict",
    "GuardrailTripped",
    "InvalidDecision",
    "MissingContext",
    "NotAToolCall",
    "NotRecorded",
    "PendingApproval",
    "Recorder",
    "Replayer",
    "RequestError",
    "RunningServer",
    "ToolCallFailed",
    "ToolTester",
    "UnfitRecording",
    "record",
    "replay",
    "run_app",
    "run_server",
]
