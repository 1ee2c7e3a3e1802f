"""Check the arguments against the tool's schema."""

from sidecall.core.invocation import Invocation
from sidecall.schema.arguments import check_arguments


def validate(invocation: Invocation) -> None:
    """Turn JSON arguments into the annotated types, and note what was mended or dropped.

    Raises:
        InvalidArguments: They do not fit the schema.
        MissingContext: What the caller sent for a hidden field of the author's model does not fit.
        ToolExecutionError: A secret does not, or a validator of the author's crashes.
    """
    check_arguments(invocation)
