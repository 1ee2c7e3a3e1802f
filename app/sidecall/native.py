"""What authors of tools write with that implement built-in tools of providers, such as `@tool(native="shell")`."""

from sidecall.core.native.arguments import PatchOperation, ShellCommand
from sidecall.core.native.kinds import Grammar, NativeKind
from sidecall.core.native.results import BrowserState, CommandResult, FoundTools, PatchResult, Screenshot

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
