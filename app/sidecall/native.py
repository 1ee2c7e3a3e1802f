"""Types for tools that implement providers' built-in tools, such as `@tool(native="shell")`."""

from sidecall.features.native_items.arguments import PatchOperation, ShellCommand
from sidecall.kernel.core.native_items import BrowserState, CommandResult, FoundTools, PatchResult, Screenshot
from sidecall.kernel.core.options import Grammar, NativeKind

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
