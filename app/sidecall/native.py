"""Types for tools that implement providers' built-in tools, such as `@tool(native="shell")`."""

from sidecall.features.native_items.arguments import PatchOperation, ShellCommand
from sidecall.kernel.core.native_kinds import Grammar, NativeKind
from sidecall.kernel.core.native_results import BrowserState, CommandResult, FoundTools, PatchResult, Screenshot

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
