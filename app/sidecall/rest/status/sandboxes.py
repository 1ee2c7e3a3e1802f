"""What callers and operators are told of the sandbox."""

from pydantic import BaseModel, Field

from sidecall.core.run.sandbox import PythonTier, Sandbox, SandboxProfile, SandboxUse


class SandboxTrial(BaseModel):
    """One thing that must not succeed in a sandbox."""

    name: str
    passed: bool
    found: str = Field(description="What succeeded all the same.")


class SandboxStatus(BaseModel):
    """Which kind of sandbox the machine has, and how it was tried when the server started."""

    profile: SandboxProfile
    checks: list[SandboxTrial]
    reason: str | None = Field(default=None, description="Why it is none, or not the strongest.")
    python: PythonTier | None = Field(default=None, description="Which Python runs, where a tool runs some.")


def show_sandbox(sandbox: Sandbox | None, use: SandboxUse | None) -> SandboxStatus | None:
    """Return what is told of it to those who use it so; None where nobody does."""
    if sandbox is None or use is None:
        return None
    report = sandbox.report
    return SandboxStatus(
        profile=report.profile,
        checks=[SandboxTrial(name=it.name, passed=it.passed, found=it.found) for it in report.checks],
        reason=report.reason or None,
        python=sandbox.python_tier if use == "python" else None,
    )
