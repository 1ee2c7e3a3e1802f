"""The status of the sandbox, for callers and operators."""

from collections.abc import Iterable

from pydantic import BaseModel, Field

from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.sandbox import PythonTier, Sandbox, SandboxProfile, SandboxUse


class SandboxTrial(BaseModel, defer_build=True):
    """One thing that must not succeed in a sandbox."""

    name: str
    passed: bool
    found: str = Field(description="What succeeded all the same.")


class SandboxStatus(BaseModel, defer_build=True):
    """Which kind of sandbox the machine has, and how it was tried when the server started."""

    profile: SandboxProfile
    checks: list[SandboxTrial]
    reason: str | None = Field(default=None, description="Why it is none, or not the strongest.")
    python: PythonTier | None = Field(default=None, description="Which Python runs, where a tool runs some.")
    refused: str | None = Field(
        default=None, description="Why calls of a tool that needs it are refused; null: they are not."
    )


async def show_sandbox(sandbox: Sandbox | None, use: SandboxUse | None) -> SandboxStatus | None:
    """Return the status of the sandbox for tools that use it, after the self-test; None where none does."""
    if sandbox is None or use is None:
        return None
    refused = await sandbox.explain_lack(use)
    report = await sandbox.find_report()
    return SandboxStatus(
        profile=report.profile,
        checks=[SandboxTrial(name=it.name, passed=it.passed, found=it.found) for it in report.checks],
        reason=report.reason or None,
        refused=refused,
        python=sandbox.python_tier if use == "python" else None,
    )


async def list_refused(sandbox: Sandbox | None, tools: Iterable[CompiledTool]) -> dict[str, str]:
    """Return the tools that are refused because the sandbox does not suffice, with the reason, after the self-test."""
    if sandbox is None:
        return {}
    lacks = [(tool.name, await sandbox.explain_lack(tool.sandbox_use)) for tool in tools if tool.sandbox_use]
    return {name: lack for name, lack in lacks if lack is not None}
