"""Test tools, and agents that call them: everything that a test imports.

Each name is loaded when it is first asked for, so that a run of tests that uses none pays nothing. `__init__.pyi` says
the same to type checkers.
"""

from importlib import import_module

# Where each name is defined.
_HOMES = {
    "Answer": "sidecall.testing.answers",
    "ApprovalConflict": "sidecall.kernel.core.errors",
    "GuardrailTripped": "sidecall.kernel.core.errors",
    "InvalidDecision": "sidecall.kernel.core.errors",
    "MissingContext": "sidecall.kernel.core.errors",
    "NotAToolCall": "sidecall.kernel.core.errors",
    "NotRecorded": "sidecall.testing.recording",
    "PendingApproval": "sidecall.testing.answers",
    "Recorder": "sidecall.testing.recorder",
    "Replayer": "sidecall.testing.replayer",
    "RequestError": "sidecall.kernel.core.errors",
    "RunningServer": "sidecall.testing.serving",
    "ToolCallFailed": "sidecall.kernel.core.errors",
    "ToolTester": "sidecall.testing.tester",
    "UnfitRecording": "sidecall.testing.recording",
    "record": "sidecall.testing.recorder",
    "replay": "sidecall.testing.replayer",
    "run_app": "sidecall.testing.serving",
    "run_server": "sidecall.testing.serving",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Load a name, once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """List loaded and loadable names."""
    return sorted({*globals(), *_HOMES})
