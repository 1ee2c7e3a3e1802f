"""Settings for the sandbox, and for the tools that run commands and code in it."""

import os
from pathlib import Path

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from sidecall.kernel.ports.sandbox import PythonTier
from sidecall.kernel.variables import Texts


class SandboxSettings(BaseSettings, defer_build=True):
    """Resource limits of sandboxed programs, and which of them run without approval."""

    sandbox_memory_mb: int = Field(
        default=512,
        ge=64,
        le=1000,
        description="Megabytes that a program in the sandbox may take, and all of one sandbox where the server can "
        "have a cgroup.",
    )
    sandbox_processes: int = Field(
        default=64, ge=8, le=64, description="Processes and threads that a sandbox may have at once."
    )
    sandbox_file_mb: int = Field(
        default=32, ge=1, le=1_000_000, description="Megabytes of a file that a program there may write."
    )
    sandbox_waiting: int = Field(
        default=4,
        ge=0,
        le=64,
        description="Conversations in which a shell waits, in a sandbox of its own, for the next command; it ends "
        "after a minute. 0: none, and each command starts its sandbox.",
    )
    shell_allow: Texts = Field(
        default=(),
        description="Commands of the tools `shell` and `bash` that run without asking a person, by their first words, "
        "separated by commas: `ls,cat,git status`.",
    )
    shell_output_bytes: int = Field(
        default=65_536, ge=1024, description="Most bytes of one command's output that are shown; a file has the rest."
    )
    python: PythonTier = Field(
        default="monty",
        description="What runs the code of `run_python`: `monty`, an interpreter without libraries that has no system "
        "beneath it, or `cpython`, the server's Python in a sandbox, with its libraries.",
    )


_USUAL = Path(".sidecall/workspaces")


class WorkspaceSettings(BaseSettings, defer_build=True):
    """Where workspaces are stored, how much, and for how long."""

    workspace_dir: Path = Field(
        default=_USUAL,
        description="Folder in which the files of conversations are kept; workers and servers of one machine share it.",
    )
    workspace_idle_ttl: float = Field(
        default=1200.0, ge=1, allow_inf_nan=False, description="Seconds without use until a workspace is removed."
    )
    workspace_ttl: float = Field(
        default=86_400.0, ge=1, allow_inf_nan=False, description="Seconds until a workspace is removed in any case."
    )
    max_workspaces: int = Field(
        default=1000,
        ge=1,
        description="Most workspaces in that folder; calls that need one more are answered with 503.",
    )
    workspace_max_bytes: int = Field(
        default=256 * 1024 * 1024, ge=1024, description="Most bytes that the files of one workspace have together."
    )
    workspace_max_file_bytes: int = Field(
        default=32 * 1024 * 1024, ge=1024, description="Most bytes of one file in a workspace."
    )
    workspace_max_entries: int = Field(default=10_000, ge=1, description="Most files and folders in one workspace.")

    @field_validator("workspace_dir")
    @classmethod
    def _can_be_folder(cls, folder: Path) -> Path:
        """Refuse a path that exists and is no folder; a missing one is made on first use."""
        there = next(filter(os.path.lexists, (folder, *folder.parents)), None)
        if folder != _USUAL and there is not None and not there.is_dir():
            raise ValueError(f"{there} is no folder" if there != folder else "this is no folder")
        return folder
