"""Authors' argument models, of pydantic 2 or 1; the only access to pydantic 1."""

import inspect
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Protocol

from msgspec import Struct
from pydantic import AfterValidator, AliasChoices, BaseModel, PydanticUserError, create_model

from sidecall.compiler.injection_plan import plan_field_injections, rebuild_annotation
from sidecall.compiler.model_schema import make_args_schema
from sidecall.compiler.signature import Signature
from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError
from sidecall.kernel.core.injection import Injection
from sidecall.kernel.core.tool import VARIADIC, ArgsSchema, Parameter
from sidecall.kernel.schema.model_args_schema import ModelArgsSchema
from sidecall.lazy_imports import Provided


class _WithoutPydantic1:
    """Takes the place of what reads models of pydantic 1, where that is not installed."""

    def is_v1_model(self, _kind: Any) -> bool:
        return False

    def adapt_v1_annotations(self, signature: Signature, _where: str) -> Signature:
        return signature


_WITHOUT = _WithoutPydantic1()
_pydantic_1 = Provided("pydantic_1", _WITHOUT)


def _find_reader() -> Any:
    """Return what reads models of pydantic 1; a program that has not imported it has none."""
    return _pydantic_1 if "pydantic.v1" in sys.modules else _WITHOUT


class ArgsModel(Protocol):
    """An author's model of a tool's arguments, as tools use it."""

    @property
    def kind(self) -> Any:
        """The model class."""

    @property
    def aliases(self) -> Mapping[str, str]:
        """The first alias of each field."""

    @property
    def required(self) -> frozenset[str]:
        """The fields without a default."""

    @property
    def extra(self) -> str:
        """The handling of unknown fields: `ignore`, `allow` or `forbid`."""

    def read_annotations(self) -> Mapping[str, Any]:
        """Read the annotations of the fields, markers included.

        Raises:
            NameError: One of them names something that does not exist.
        """

    def plan_injections(self, where: str) -> tuple[Injection, ...]:
        """Plan the injection of marked fields; the model validates the values itself.

        Raises:
            SchemaInferenceError: An annotation names something that does not exist.
        """

    def make_args_schema(self, where: str, hidden: frozenset[str], *, takes_extra: bool) -> ArgsSchema:
        """Compile the model.

        Args:
            where: The tool's name and file, for errors.
            hidden: Fields that are injected.
            takes_extra: Whether the function takes what the model lets through besides its fields.

        Raises:
            SchemaInferenceError: A field cannot be said in JSON Schema.
        """

    def check(self, given: Any) -> Any:
        """Validate values.

        Raises:
            ValidationError: One of pydantic 2.
        """

    def drop_fields(self, names: frozenset[str]) -> "ArgsModel":
        """Return a model without these fields."""


class V2Model(Struct, frozen=True):
    """An author's arguments model, of pydantic 2."""

    kind: type[BaseModel]

    @property
    def aliases(self) -> Mapping[str, str]:
        """The first alias of each field."""
        return {name: _choose_alias(name, field.validation_alias) for name, field in self.kind.model_fields.items()}

    @property
    def required(self) -> frozenset[str]:
        """The fields without a default."""
        return frozenset(name for name, field in self.kind.model_fields.items() if field.is_required())

    @property
    def extra(self) -> str:
        """The handling of unknown fields: `ignore`, `allow` or `forbid`."""
        return self.kind.model_config.get("extra") or "ignore"

    def read_annotations(self) -> Mapping[str, Any]:
        """Read the annotations of the fields, markers included."""
        return {name: rebuild_annotation(field) for name, field in self.kind.model_fields.items()}

    def plan_injections(self, where: str) -> tuple[Injection, ...]:
        """Plan the injection of marked fields; the model validates the values itself."""
        del where  # pydantic 2 has resolved the annotations already.
        return plan_field_injections(self.kind)

    def make_args_schema(self, where: str, hidden: frozenset[str], *, takes_extra: bool) -> ModelArgsSchema:
        """Compile the model.

        Raises:
            SchemaInferenceError: A field cannot be said in JSON Schema.
        """
        fields = {name: name for name in self.kind.model_fields}
        try:
            return make_args_schema(self.kind, fields, hidden, drops_unknown=not takes_extra)
        except PydanticUserError as error:
            reason = str(error).partition("\n")[0]
            raise SchemaInferenceError(f"{where}: args_schema {self.kind.__name__}: {reason}") from error

    def check(self, given: Any) -> BaseModel:
        """Validate values.

        Raises:
            ValidationError: The values do not fit.
        """
        return self.kind.model_validate(given)

    def drop_fields(self, names: frozenset[str]) -> "V2Model":
        """Return a model without these fields; the same one if there are none to drop."""
        if not names:
            return self
        kept: dict[str, Any] = {
            name: (field.annotation, field) for name, field in self.kind.model_fields.items() if name not in names
        }
        return V2Model(create_model(self.kind.__name__, __config__=self.kind.model_config, **kept))


def _choose_alias(field: str, alias: Any) -> str:
    first = alias.choices[0] if isinstance(alias, AliasChoices) else alias
    return first if isinstance(first, str) else field


def open_model(kind: Any) -> ArgsModel:
    """Wrap a model of pydantic 1 or 2."""
    made: ArgsModel = _pydantic_1.V1Model(kind) if _find_reader().is_v1_model(kind) else V2Model(kind)
    return made


def _require_model(kind: type[Any]) -> type[Any]:
    if not _find_reader().is_v1_model(kind):
        raise ValueError("a pydantic model or a JSON Schema is wanted")
    return kind


# The type of an option that takes a model.
ModelType = type[BaseModel] | Annotated[type[Any], AfterValidator(_require_model)]


def adapt_annotations(signature: Signature, where: str) -> Signature:
    """Make every model in a signature's annotations usable with pydantic 2.

    Raises:
        SchemaInferenceError: A parameter that the model fills has another type of pydantic 1.
    """
    adapted: Signature = _find_reader().adapt_v1_annotations(signature, where)
    return adapted


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
