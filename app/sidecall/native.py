"""Types for tools that implement providers' built-in tools, such as `@tool(native="shell")`."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from sidecall.kernel.core.native_results import BrowserState, CommandResult, FoundTools, PatchResult, Screenshot
from sidecall.kernel.core.options import Grammar, NativeKind


class ShellCommand(BaseModel, defer_build=True):
    """What a shell is to run: an `args_schema` for a tool with `native="shell"`."""

    commands: list[str] = Field(description="Commands to run one after the other.", min_length=1)
    timeout_ms: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Milliseconds after which a command is stopped."
    )
    max_output_length: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Characters of the output that you want to read at most."
    )


class PatchOperation(BaseModel, defer_build=True):
    """What is to be done to a file: an `args_schema` for a tool with `native="apply_patch"`."""

    type: Literal["create_file", "update_file", "delete_file"] = Field(description="What to do.")
    path: str = Field(description="The file.")
    diff: str | None = Field(default=None, description="The change, as a V4A diff; none where a file is deleted.")


__all__ = [
    "BrowserState",
    "CommandResult",
    "FoundTools",
    "Grammar",
    "NativeKind",
    "PatchOperation",
    "PatchResult",
    "Screenshot",
    "ShellCommand",
]
