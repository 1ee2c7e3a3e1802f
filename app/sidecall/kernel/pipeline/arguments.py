"""Parse the arguments to a JSON object, from any form in which a model wrote them."""

from collections.abc import Awaitable

from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import ARGUMENTS
from sidecall.kernel.core.errors import InvalidArguments, MalformedArguments, ToolFailure
from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.incremental_validation import MOST_CHOSEN
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.native_results import CUT_OFF
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.json_data.large_values import is_long
from sidecall.kernel.json_data.text import name_json_type, parse_json, read_object
from sidecall.kernel.schema.arguments import fill_hidden, fill_slowly, validate_in_steps
from sidecall.kernel.schema.arguments import validate as validate_at_once
from sidecall.kernel.schema.describe import list_keys
from sidecall.kernel.schema.errors.reading import REPAIR, SHORT, LongRepair


async def try_arguments(invocation: Invocation) -> ToolFailure | None:
    """Return the failure with which the call would begin, or None.

    Arguments that would be dropped are failures here too, since the sender asked about them.

    Raises:
        MissingContext: The caller left something out.
    """
    try:
        for stage in (decode, inject, validate):
            waits = stage(invocation)
            if waits is not None:
                await waits
    except ToolFailure as failure:
        return failure
    if invocation.remarks.ignored:
        return InvalidArguments([_refuse(name) for name in dict.fromkeys(invocation.remarks.ignored)])
    return None


def _refuse(name: str) -> FieldError:
    return {"loc": [name], "type": "extra_forbidden", "msg": "The tool has no such argument"}


# How the parser begins to say that the text is at its end and the value is not.
_END_OF_TEXT = "EOF"

_HALF = "The call was cut off before its end, so nothing has run. Send it again as a whole."


def decode(invocation: Invocation) -> Awaitable[None] | None:
    """Parse the arguments' JSON text, repairing it if necessary; empty text, null and `[]` are no arguments.

    Where much has to be repaired it must be awaited.

    Raises:
        MalformedArguments: The text is not JSON, or not an object, or the call is only a part of one.
    """
    call = invocation.request.call
    args = call.args
    if call.item is not None and CUT_OFF in call.item:
        raise MalformedArguments(_HALF, [{"loc": [], "type": "cut_off", "msg": _HALF}])
    if isinstance(args, str):
        value = _parse_object(args)
        if value is None:
            if len(args) > SHORT:
                return ARGUMENTS.run_for(key_of(invocation.request.sender.caller), _mend, invocation, args)
            _mend(invocation, args)
            return None
        args = value
    invocation.args = args
    return None


def _parse_object(text: str) -> dict[str, object] | None:
    """Parse a text that is an object in JSON; None for any other."""
    try:
        value = parse_json(text.encode())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _mend(invocation: Invocation, text: str) -> None:
    try:
        invocation.args, written = _read(text, invocation.tool.args_schema.flat, invocation.remarks.repaired)
    except MalformedArguments:
        invocation.remarks.repaired.clear()  # Nothing is mended where the call is refused.
        raise
    if invocation.remarks.repaired:
        invocation.remarks.written = written


def _read(text: str, schema: Schema, repaired: list[str]) -> tuple[dict[str, object], str | None]:
    if not text.strip():
        return {}, None
    try:
        value, written = REPAIR.parse_arguments(text, repaired)
    except ValueError as error:
        reason = str(error)
        said = "the text ends before the JSON does, as if it was cut off" if reason.startswith(_END_OF_TEXT) else reason
        raise _make_failure(f"The arguments are not valid JSON: {said}. Send one JSON object", schema) from None
    value = read_object(value)
    if value is None:
        return {}, None
    if not isinstance(value, dict):
        kind = name_json_type(value)
        raise _make_failure(f"The arguments must be one JSON object, not {kind}", schema)
    return value, written


def _make_failure(said: str, schema: Schema) -> MalformedArguments:
    keys = list_keys(schema)
    text = f"{said}: {keys}."
    return MalformedArguments(text, [{"loc": [], "type": "json_invalid", "msg": text, "expected": keys}])


def has_injections(tool: CompiledTool) -> bool:
    """Return whether the tool has hidden parameters."""
    return bool(tool.injections)


def inject(invocation: Invocation) -> Awaitable[None] | None:
    """Drop what the model sent for hidden parameters, then fill them from the caller and the server.

    Where these have sent much it must be awaited.

    Raises:
        MissingContext: The caller did not send what a hidden parameter needs.
        ToolNotConfigured: A secret is not set.
    """
    forged = invocation.tool.hidden_names & invocation.args.keys()
    if forged:
        invocation.args = {name: value for name, value in invocation.args.items() if name not in forged}
        invocation.remarks.ignored.extend(sorted(forged))
    request = invocation.request
    if is_long(request.state, MOST_CHOSEN) or is_long(request.context, MOST_CHOSEN):
        return fill_slowly(invocation, ARGUMENTS)
    fill_hidden(invocation)
    return None


_CONTAINERS = (list, dict)
# Characters of a text that may be something else than a text, which some types read slowly.
_LONG = 65_536


def validate(invocation: Invocation) -> Awaitable[None] | None:
    """Validate the arguments like `validate_at_once`; large ones must be awaited."""
    args = invocation.args
    if len(args) > MOST_CHOSEN:
        return _validate_much(invocation)
    for value in args.values():
        if type(value) is str:
            if len(value) > _LONG:
                return _validate_much(invocation)
        elif type(value) in _CONTAINERS and is_long(value, invocation.tool.args_schema.most_at_once):
            return _validate_much(invocation)
    try:
        validate_at_once(invocation)
    except LongRepair:
        return _validate_much(invocation)
    return None


def _validate_much(invocation: Invocation) -> Awaitable[None]:
    return ARGUMENTS.run_for(key_of(invocation.request.sender.caller), validate_in_steps, invocation)


__all__ = ["validate", "validate_at_once"]
