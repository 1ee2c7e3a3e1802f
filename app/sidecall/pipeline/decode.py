"""Make the arguments a JSON object, whatever form the model wrote them in."""

from sidecall.core.errors import MalformedArguments
from sidecall.core.invocation import Invocation
from sidecall.core.json_text import name_json_type
from sidecall.schema.mend import parse_arguments


async def decode(invocation: Invocation) -> None:
    """Read the arguments' JSON text, mending its form if need be; empty text and null are a call without arguments.

    Raises:
        MalformedArguments: The text is not JSON, or not an object.
    """
    args = invocation.call.args
    if isinstance(args, str):
        args = _decode(args, invocation.repaired)
    invocation.args = args


def _decode(text: str, repaired: list[str]) -> dict[str, object]:
    if not text.strip():
        return {}
    try:
        value = parse_arguments(text, repaired)
    except ValueError as error:
        raise MalformedArguments(f"The arguments are not valid JSON: {error}. Send one JSON object.") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        kind = name_json_type(value)
        raise MalformedArguments(f'The arguments must be a JSON object such as {{"name": "value"}}, not {kind}.')
    return value
