"""Check the arguments against the tool's schema."""

from sidecall.core.invocation import Invocation
from sidecall.schema.arguments import check_arguments


async def validate(invocation: Invocation) -> None:
    """Turn JSON arguments into the annotated types, and note those that no parameter takes.

    Raises:
        InvalidArguments: They do not fit the schema.
        MissingContext: What the caller sent for a hidden field of the author's model does not fit.
        ToolExecutionError: A secret does not, or a validator of the author's crashes.
    """
    invocation.ignored.extend(invocation.tool.args_schema.find_unknown(invocation.args))
    check_arguments(invocation)
