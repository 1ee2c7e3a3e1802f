"""Recognize models of pydantic 1 without importing it, since that warns on newer Pythons."""

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel

from sidecall.compat.pydantic_1.args_schema import V1ArgsSchema, make_v1_args_schema
from sidecall.compat.pydantic_1.check import check_by_v1
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.injection import Injection
from sidecall.kernel.core.parameter import EMPTY, Parameter
from sidecall.kernel.schema.injections import find_marker, plan_injections


def is_v1_model(kind: Any) -> bool:
    """Return whether this is a model of pydantic 1."""
    is_foreign = isinstance(kind, type) and not issubclass(kind, BaseModel)
    return is_foreign and all(hasattr(kind, name) for name in ("__fields__", "__config__", "parse_obj"))


@dataclass(frozen=True, slots=True)
class V1Model:
    """An author's arguments model, of pydantic 1."""

    kind: Any

    @property
    def aliases(self) -> Mapping[str, str]:
        """The alias of each field."""
        return {name: field.alias for name, field in self.kind.__fields__.items()}

    @property
    def required(self) -> frozenset[str]:
        """The fields without a default."""
        return frozenset(name for name, field in self.kind.__fields__.items() if field.required)

    @property
    def extra(self) -> str:
        """The handling of unknown fields: `ignore`, `allow` or `forbid`."""
        extra = self.kind.__config__.extra
        return str(getattr(extra, "value", extra))

    def read_annotations(self) -> Mapping[str, Any]:
        """Read the annotations of the fields, markers included."""
        hints = typing.get_type_hints(self.kind, include_extras=True)
        return {name: hints.get(name) for name in self.kind.__fields__}

    def plan_injections(self, where: str) -> tuple[Injection, ...]:
        """Plan the injection of marked fields; the model validates the values itself.

        Raises:
            SchemaInferenceError: An annotation names something that does not exist.
        """
        try:
            annotations = self.read_annotations()
        except NameError as error:
            raise SchemaInferenceError(f"{where}: args_schema {self.kind.__name__}: {error}.") from error
        found = ((name, find_marker(annotation)) for name, annotation in annotations.items())
        return plan_injections(self._make_parameter(name, marker) for name, marker in found if marker is not None)

    def _make_parameter(self, name: str, marker: Any) -> Parameter:
        field = self.kind.__fields__[name]
        default = EMPTY if field.required else field.default
        return Parameter(name, inspect.Parameter.KEYWORD_ONLY, Annotated[Any, marker], default)

    def make_args_schema(self, where: str, hidden: frozenset[str], *, takes_extra: bool) -> V1ArgsSchema:
        """Compile the model.

        Raises:
            SchemaInferenceError: A field cannot be said in JSON Schema.
        """
        drops_unknown = self.extra == "ignore" or (self.extra == "allow" and not takes_extra)
        return make_v1_args_schema(where, self.kind, hidden, drops_unknown=drops_unknown)

    def check(self, given: Any) -> Any:
        """Validate values.

        Raises:
            ValidationError: One of pydantic 2, caused by the model's own.
        """
        return check_by_v1(self.kind, given)

    def drop_fields(self, names: frozenset[str]) -> "V1Model":
        """Return the same model: its hidden fields are dropped when it is compiled."""
        del names
        return self
