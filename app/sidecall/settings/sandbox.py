"""Settings for the sandbox, and for the tools that run commands and code in it."""

from pydantic import Field
from pydantic_settings import BaseSettings

from sidecall.kernel.ports.sandbox import PythonTier
from sidecall.loading.tool_lists import Texts


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
