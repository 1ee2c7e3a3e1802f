"""Turn a call's arguments into the values of its tool's parameters, in the server and in tool processes."""

from typing import Any

from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import Pool
from sidecall.kernel.core.errors import InvalidArguments, MissingContext, SidecallError, ToolExecutionError
from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.invocation import NOTHING, Invocation
from sidecall.kernel.core.tool import ArgsSchema


async def fill_slowly(invocation: Invocation, pool: Pool) -> None:
    """Fill the hidden parameters; those that are made of what was sent are made in a thread.

    Raises:
        Exception: What `fill_hidden` raises.
    """
    supply = invocation.supply()
    filled: dict[str, Any] = {}
    invocation.values = filled
    for injection in invocation.tool.injections:
        if injection.converts:
            await pool.run_for(key_of(invocation.request.sender.caller), injection.fill, filled, supply)
        else:
            injection.fill(filled, supply)


def fill_hidden(invocation: Invocation) -> None:
    """Fill the hidden parameters from the caller and the server.

    Raises:
        MissingContext: The caller did not send what one of them needs.
        ToolNotConfigured: A secret is not set.
        ToolExecutionError: A secret is of no use, or a validator of the author's crashes.
    """
    filled: dict[str, Any] = {}
    invocation.values = filled
    if not invocation.tool.injections:
        return
    supply = invocation.supply()
    for injection in invocation.tool.injections:
        injection.fill(filled, supply)


def validate(invocation: Invocation, schema: ArgsSchema | None = None) -> None:
    """Convert JSON arguments to the annotated types, and add injected values; `schema` in place of the tool's own.

    Raises:
        InvalidArguments: They do not fit the schema.
        MissingContext: What the caller sent for a hidden field of the author's model does not fit.
        ToolExecutionError: A secret does not, or a validator of the author's crashes.
    """
    injected, remarks = invocation.values, invocation.remarks
    if schema is None:
        schema = invocation.tool.args_schema
    try:
        values = schema.validate(invocation.args, injected, remarks.repaired, remarks.ignored)
    except InvalidArguments as failure:
        remarks.repaired.clear()  # Nothing is mended where the call is refused.
        _drop_repeated(invocation)
        if schema.hidden:
            _blame_no_model(invocation, failure)
        # A failure is kept until a whole batch is answered; its trace would keep all that the validator has listed.
        failure.__context__ = None
        raise failure.with_traceback(None) from None
    except SidecallError:
        raise
    except BaseException as error:
        raise ToolExecutionError(invocation.tool.name, invocation.call.id) from error
    if remarks.repaired or remarks.ignored:
        _drop_repeated(invocation)
    if injected is not NOTHING:
        values.update({name: value for name, value in injected.items() if name not in schema.hidden})
    invocation.values = values


def validate_in_steps(invocation: Invocation) -> None:
    """Do the same in steps, between which other threads may run."""
    validate(invocation, invocation.tool.args_schema.in_steps())


def _drop_repeated(invocation: Invocation) -> None:
    for notes in (invocation.remarks.repaired, invocation.remarks.ignored):
        if len(notes) > 1:
            notes[:] = dict.fromkeys(notes)


def _blame_no_model(invocation: Invocation, failure: InvalidArguments) -> None:
    """Raise an error for the supplier of a hidden value that does not fit; the model cannot fix it."""
    names = {alias: field for field, alias in invocation.tool.args_schema.hidden.items()}
    for error in failure.errors:
        hidden = names.get(str(error["loc"][0])) if error["loc"] else None
        if hidden is not None:
            raise _fault(invocation, hidden, error) from None


def _fault(invocation: Invocation, hidden: str, error: FieldError) -> SidecallError:
    injection = next((it for it in invocation.tool.injections if it.parameter == hidden), None)
    if injection is None:
        return ToolExecutionError(invocation.tool.name, invocation.call.id)
    if injection.source not in ("secret", "user_token"):
        return MissingContext(f"The tool cannot use what was sent as `{injection.place}`: {error['msg']}.")
    fault = ToolExecutionError(invocation.tool.name, invocation.call.id)
    fault.__cause__ = SidecallError(f"The {_NAMED[injection.source]} {injection.field} is of no use: {error['type']}.")
    return fault


_NAMED = {"secret": "secret", "user_token": "token of"}
