"""Five thousand tools, as a server has them that offers the operations of large services."""

from typing import Any

from pydantic import create_model

from sidecall import StructuredTool, tool

MANY = 5000


def _make(number: int) -> StructuredTool:
    model = create_model(
        f"Arguments{number}",
        account=(str, ...),
        limit=(int, 10),
        labels=(list[str], []),
        options=(dict[str, str] | None, None),
    )

    def work(**args: Any) -> str:
        return str(len(args))

    return StructuredTool.from_function(
        work,
        name=f"service_{number}_list_items",
        description=f"List the items of service {number} in the order in which they were made, with their labels.",
        args_schema=model,
    )


globals().update({f"tool_{number}": _make(number) for number in range(MANY)})


@tool
async def echo(value: Any) -> Any:
    """Return what comes.

    Args:
        value: What.
    """
    return value
