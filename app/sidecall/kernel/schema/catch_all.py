"""Parse the arguments of `**kwargs`, in any form that models write."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.tool import EMPTY, FREE, Parameter
from sidecall.kernel.schema.errors.entries import make_misnamed
from sidecall.kernel.suggest.fuzzy_match import find_misspelt

# Free arguments that are compared with those that have a name.
_MOST_COMPARED = 20


@dataclass(frozen=True, slots=True)
class CatchAll:
    """The arguments of `**kwargs`: at the top level, or in one object under the parameter's name.

    We advertise the first form, LangChain and the OpenAI Agents SDK the second. `adapter` validates each free argument,
    None accepts any; `named` are regular arguments, `order` those that are shown, `hidden` those that a model must not
    use. `positional` are parameters whose names a free argument may use once they are sent.
    """

    name: str
    adapter: TypeAdapter[Any] | None
    named: frozenset[str]
    hidden: frozenset[str]
    order: tuple[str, ...] = ()
    positional: frozenset[str] = frozenset()

    def find_forged(self, args: Mapping[str, Any]) -> list[str]:
        """Return the names in the object that a model must not use."""
        return [f"{self.name}.{name}" for name in self._get_nested(args) if name in self.hidden]

    def unfold(self, args: Mapping[str, Any], repaired: list[str]) -> dict[str, Any]:
        """Move the object's members to the top level, and note that in `repaired`.

        Raises:
            InvalidArguments: One of them stands there already, or is an argument of its own, or is misspelt.
        """
        if not self._is_nested(args):
            self._refuse_misnamed(args)
            return dict(args)
        free = {name: value for name, value in self._get_nested(args).items() if name not in self.hidden}
        outer = {name: value for name, value in args.items() if name != self.name}
        own = self.positional & outer.keys()
        free = {f"{FREE}{name}" if name in own else name: value for name, value in free.items()}
        errors = [self._make_error(name) for name in free if name in self.named or name in outer]
        if errors:
            raise InvalidArguments(errors)
        repaired.append(f"{self.name}: its members stand beside the other arguments")
        return outer | free

    def _refuse_misnamed(self, args: Mapping[str, Any]) -> None:
        """Refuse names almost equal to a missing argument; if that argument was sent, they are names of their own."""
        unsent = [name for name in self.order if name not in args]
        free = [name for name in args if name not in self.named][:_MOST_COMPARED]
        meant = {name: other for name in free if (other := find_misspelt(name, unsent)) is not None}
        if meant:
            raise InvalidArguments([make_misnamed((it,), (other,), self.order) for it, other in meant.items()])

    def _get_nested(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        nested: Mapping[str, Any] = args[self.name] if self._is_nested(args) else {}
        return nested

    def _is_nested(self, args: Mapping[str, Any]) -> bool:
        """Return whether it is the object, and not a free argument with the parameter's name."""
        value = args.get(self.name)
        if self.name in self.named or not isinstance(value, dict):
            return False
        return self.adapter is None or not _fits(self.adapter, value)

    def _make_error(self, name: str) -> FieldError:
        own = f"This is an argument of its own; send it beside the others, not inside {self.name}"
        twice = f"This is sent twice; send it once, beside the others or inside {self.name}"
        is_own = name in self.named
        return {
            "loc": [self.name, name],
            "type": "misplaced_argument" if is_own else "repeated_argument",
            "msg": own if is_own else twice,
        }


def _fits(adapter: TypeAdapter[Any], value: Any) -> bool:
    try:
        adapter.validate_json(to_json(value))
    except ValueError:
        return False
    return True


def make_catch_all(
    parameter: Parameter, named: frozenset[str], hidden: frozenset[str], order: tuple[str, ...]
) -> CatchAll:
    """Plan how the arguments of a `**kwargs` parameter are parsed."""
    metadata = getattr(parameter.annotation, "__metadata__", ())
    plain = parameter.annotation.__origin__ if metadata else parameter.annotation
    takes_any = plain is EMPTY or plain is Any or plain is object
    adapter: TypeAdapter[Any] | None = None if takes_any else TypeAdapter(parameter.annotation)
    return CatchAll(parameter.name, adapter, named, hidden, order)
