"""Check the arguments against the tool's schema."""

from app.core.invocation import Invocation


async def validate(invocation: Invocation) -> None:
    """Turn JSON arguments into the annotated types, and note those that no parameter takes.

    Raises:
        InvalidArguments: They do not fit the schema.
    """
    schema = invocation.tool.args_schema
    invocation.ignored.extend(schema.unknown(invocation.args))
    invocation.values = schema.validate(invocation.args, invocation.injected, invocation.repaired) | {
        name: value for name, value in invocation.injected.items() if name not in schema.hidden
    }
