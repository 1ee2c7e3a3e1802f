"""Parse the arguments to a JSON object, from any form in which a model wrote them."""

from sidecall.kernel.core.errors import MalformedArguments
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.native_items import CUT_OFF
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.text import name_json_type, read_object
from sidecall.kernel.schema.describe import list_keys
from sidecall.kernel.schema.repair.text import parse_arguments

# How the parser begins to say that the text is at its end and the value is not.
_END_OF_TEXT = "EOF"
_HALF = "The call was cut off before its end, so nothing has run. Send it again as a whole."


def decode(invocation: Invocation) -> None:
    """Parse the arguments' JSON text, repairing it if necessary; empty text, null and `[]` are no arguments.

    Raises:
        MalformedArguments: The text is not JSON, or not an object, or the call is only a part of one.
    """
    call = invocation.request.call
    args = call.args
    if call.item is not None and CUT_OFF in call.item:
        raise MalformedArguments(_HALF, [{"loc": [], "type": "cut_off", "msg": _HALF}])
    if isinstance(args, str):
        try:
            args = _decode(args, invocation.tool.args_schema.flat, invocation.repaired)
        except MalformedArguments:
            invocation.repaired.clear()  # Nothing is mended where the call is refused.
            raise
    invocation.args = args


def _decode(text: str, schema: Schema, repaired: list[str]) -> dict[str, object]:
    if not text.strip():
        return {}
    try:
        value = read_object(parse_arguments(text, repaired))
    except ValueError as error:
        reason = str(error)
        said = "the text ends before the JSON does, as if it was cut off" if reason.startswith(_END_OF_TEXT) else reason
        raise _make_failure(f"The arguments are not valid JSON: {said}. Send one JSON object", schema) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        kind = name_json_type(value)
        raise _make_failure(f"The arguments must be one JSON object, not {kind}", schema)
    return value


def _make_failure(said: str, schema: Schema) -> MalformedArguments:
    keys = list_keys(schema)
    text = f"{said}: {keys}."
    return MalformedArguments(text, [{"loc": [], "type": "json_invalid", "msg": text, "expected": keys}])
