"""Fill the hidden parameters."""

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.arguments import fill_hidden


def has_injections(tool: CompiledTool) -> bool:
    """Return whether the tool has hidden parameters."""
    return bool(tool.injections)


def inject(invocation: Invocation) -> None:
    """Drop what the model sent for hidden parameters, then fill them from the caller and the server.

    Raises:
        MissingContext: The caller did not send what a hidden parameter needs.
        ToolNotConfigured: A secret is not set.
    """
    forged = invocation.tool.hidden_names & invocation.args.keys()
    if forged:
        invocation.args = {name: value for name, value in invocation.args.items() if name not in forged}
        invocation.ignored.extend(sorted(forged))
    fill_hidden(invocation)
