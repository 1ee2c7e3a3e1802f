"""Validate arguments that another library will read again."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.parameter import EMPTY, Parameter
from sidecall.kernel.core.tool import ArgsSchema, Schema
from sidecall.kernel.schema.adopt import adopt_args_schema
from sidecall.kernel.schema.explain import list_details, make_field_errors
from sidecall.kernel.schema.models import open_model

_ANY = (Parameter("arguments", inspect.Parameter.VAR_KEYWORD, EMPTY, EMPTY),)


@dataclass(frozen=True, slots=True)
class PassThroughArgsSchema:
    """The arguments of another library's tool: validated by a model, and passed on as sent.

    The library reads them by the same model, and validated values cannot always be validated again. `inner` has the
    fields that are shown, `read` all of them. `names` are the names of `read`'s fields.
    """

    inner: ArgsSchema
    read: Callable[[Any], Any]
    names: Mapping[str, str]
    hidden: Mapping[str, str]

    @property
    def json_schema(self) -> Schema:
        """The JSON Schema shown by `GET /tools/{name}`."""
        return self.inner.json_schema

    @property
    def flat(self) -> Schema:
        """The JSON Schema sent to models."""
        return self.inner.flat

    @property
    def reserved(self) -> frozenset[str]:
        """Names that a model must not use."""
        return frozenset((*self.hidden, *self.hidden.values()))

    def drop_unknown(self) -> "PassThroughArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return replace(self, inner=self.inner.drop_unknown())

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values under the model's own names."""
        return dict(values)

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Validate the arguments, and return them unchanged if nothing had to be repaired.

        Raises:
            InvalidArguments: One entry per offending field.
        """
        mended, dropped = len(repaired), len(ignored)
        checked = self.inner.validate(args, injected, repaired, ignored)
        supplied = {name: injected[field] for field, name in self.hidden.items() if field in injected}
        made = {self.names.get(field, field): value for field, value in checked.items()} | supplied
        if len(repaired) > mended and self._bears(made):
            return made
        sent = {name: value for name, value in args.items() if name not in ignored[dropped:]} | supplied
        fault = self._find_fault(sent)
        if fault is None:
            return sent
        if self._bears(made):
            return made
        raise InvalidArguments(make_field_errors(list_details(fault), self.flat, sent), lambda: fault) from None

    def _find_fault(self, sent: Mapping[str, Any]) -> ValidationError | None:
        try:
            self.read(sent)
        except ValidationError as error:
            return error
        return None

    def _bears(self, made: Mapping[str, Any]) -> bool:
        """Return whether validated values can be validated again; validators may crash on their own results."""
        try:
            self.read(made)
        except Exception:
            return False
        return True


def make_pass_through(where: str, model: Any, hidden: frozenset[str], *, forbid_unknown: bool) -> PassThroughArgsSchema:
    """Use another library's model for pass-through arguments.

    Args:
        where: The tool's name and file, for errors.
        model: The model.
        hidden: Its fields that the model of language must not fill.
        forbid_unknown: Whether an argument that the model does not have is refused.

    Raises:
        SchemaInferenceError: A field cannot be said in JSON Schema.
    """
    whole = open_model(model)
    inner = adopt_args_schema(where, whole.drop_fields(hidden), _ANY, frozenset(), forbid_unknown=forbid_unknown)
    return PassThroughArgsSchema(inner, whole.check, whole.aliases, {field: whole.aliases[field] for field in hidden})
