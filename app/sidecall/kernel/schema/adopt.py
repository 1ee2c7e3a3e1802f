"""Fit the author's own model of the arguments to the tool's function."""

import inspect
import types
from collections.abc import Iterable
from typing import Any

from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError
from sidecall.kernel.core.parameter import VARIADIC, Parameter
from sidecall.kernel.core.tool import ArgsSchema
from sidecall.kernel.schema.models import ArgsModel, open_model


def adopt_args_schema(
    where: str,
    model: ArgsModel,
    parameters: Iterable[Parameter],
    supplied: frozenset[str],
    *,
    forbid_unknown: bool,
) -> ArgsSchema:
    """Use the author's own model for the arguments of a tool.

    Args:
        where: The tool's name and file, for errors.
        model: The model.
        parameters: All parameters of the function.
        supplied: Names of the parameters that are injected.
        forbid_unknown: Whether an argument that the model does not have is refused.

    Raises:
        SchemaInferenceError: A field cannot be said in JSON Schema, or model and function do not fit together.
        InvalidToolOption: Unknown arguments are to be refused by a model that wants them.
    """
    hidden = frozenset(injection.parameter for injection in model.plan_injections(where))
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    _refuse_mismatch(where, model, parameters, supplied, takes_any=takes_any)
    if forbid_unknown:
        model = _forbid_extra(where, model)
    return model.make_args_schema(where, hidden, takes_extra=takes_any)


def _refuse_mismatch(
    where: str, model: ArgsModel, parameters: Iterable[Parameter], supplied: frozenset[str], *, takes_any: bool
) -> None:
    fields = model.aliases.keys()
    accepted = {parameter.name for parameter in parameters if parameter.kind not in VARIADIC}
    unknown = frozenset() if takes_any else fields - accepted
    missing = {p.name for p in parameters if p.required} - fields - supplied
    if unknown or missing:
        names = ", ".join(f"`{field}`" for field in sorted(unknown or missing))
        side = "the function does not take" if unknown else "the function requires but the model lacks"
        name = model.kind.__name__
        raise SchemaInferenceError(f"{where}: args_schema {name} has to match the function: {side} {names}.")


def _forbid_extra(where: str, model: ArgsModel) -> ArgsModel:
    """Derive a model that refuses unknown fields; the class keyword is the same in both pydantics."""
    kind: Any = model.kind
    if model.extra == "allow":
        raise InvalidToolOption(
            f"{where}: unknown_args='forbid' and args_schema {kind.__name__}, whose extra='allow' takes any argument,"
            " contradict each other; leave one of them out."
        )
    if model.extra == "forbid":
        return model
    options = {"extra": "forbid", "title": kind.__name__}
    name = f"{kind.__name__}Arguments"
    return open_model(types.new_class(name, (kind,), options, lambda body: body.update(__module__=kind.__module__)))
