"""Repair common mistakes of models in arguments, and report each repair."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sidecall.features.repair.resolve_unknown import MOST_STRAYS, Notes, settle
from sidecall.features.repair.text import leave_to_thread, parse_arguments, read_container
from sidecall.features.repair.values import mend_value
from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.field_errors import MOST_FIELDS, FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.errors.entries import Path, make_misnamed
from sidecall.kernel.schema.errors.reading import ArgumentsValidator, Reading

__all__ = ["mend", "parse_arguments"]

# A text may hold an object whose members are texts again.
_MOST_ROUNDS = 6


def mend(
    validator: ArgumentsValidator,
    given: Mapping[str, Any],
    first: Reading,
    repaired: list[str],
    ignored: list[str],
    guards: int,
) -> Any:
    """Repair arguments that did not fit at first, and return their values.

    Args:
        validator: Validates the arguments.
        given: The arguments.
        first: The validator's result for them.
        repaired: The list to which each repair is added.
        ignored: The list to which each dropped argument is added.
        guards: How long the path of a name without a place may be that is refused, rather than dropped, where it may
            have been meant for something that was not sent.

    Raises:
        InvalidArguments: They still do not fit, or one of them has nearly the name of a parameter.
        LongRepair: They hold long texts, and this is a thread with an event loop.
    """
    leave_to_thread(given)
    wrapped = find_wrapped(given, validator.root)
    if wrapped is not None:
        where, inner = wrapped
        held = _Attempt(validator, inner, guards)
        if held.run(validator.validate(inner)):
            repaired.append(f"arguments: taken out of a wrapper, {format_path(where)}")
        return held.finish(repaired, ignored, where)
    attempt = _Attempt(validator, given, guards)
    attempt.run(first)
    return attempt.finish(repaired, ignored)


class _Attempt:
    """One attempt: arguments, repaired until they fit or nothing more can be done."""

    def __init__(self, validator: ArgumentsValidator, given: Mapping[str, Any], guards: int) -> None:
        self._validator = validator
        self._guards = guards
        self._given = given
        self._data: Any = given
        self._notes = Notes()
        self._verdict: Reading  # once it has run

    def run(self, reading: Reading) -> bool:
        """Repair what is possible, and return whether the arguments fit then."""
        for _ in range(_MOST_ROUNDS):
            if reading.fits or reading.count > MOST_FIELDS:  # Each mend copies all there is.
                break
            mended = self._mend(reading)
            if mended is self._data:
                break
            self._data = mended
            reading = self._validator.validate(mended)
        if not reading.fits and not self._notes.errors and not self._validator.list_sites(reading, self._data):
            reading = self._drop_extras(reading)
        self._verdict = reading
        return reading.fits and not self._notes.errors

    def _mend(self, reading: Reading) -> Any:
        data, notes, root = self._data, self._notes, self._validator.root
        unknown_keys = [it for it in reading.unknown_keys if it.path not in notes.kept]
        if unknown_keys and not (len(unknown_keys) > MOST_STRAYS and notes.errors):
            settled = settle(data, unknown_keys, root, notes, kept_from=self._validator.kept_from, guards=self._guards)
            if settled is not data:  # Which names stand where says what is wrong with values.
                return settled
        for site in self._validator.list_sites(reading, data):
            data = mend_value(data, site, root, notes)
        return data

    def _drop_extras(self, reading: Reading) -> Reading:
        """Remove unknown names that cannot be attributed to one object, such as those of a union."""
        known = self._validator.validate_known(self._data)
        if known.fits:
            extras = self._validator.list_extras(reading, self._data)
            dropped = [path for path in extras if path not in self._notes.kept and _is_in(self._data, path)]
            self._notes.ignored += [format_path(path) for path in dropped]
        return known

    def finish(self, repaired: list[str], ignored: list[str], where: Path = ()) -> Any:
        """Return the validated arguments; `where` is the path of the wrapper that they were taken from.

        Raises:
            InvalidArguments: They do not fit, or something in them may have meant something else.
        """
        notes = self._notes
        ignored += notes.ignored
        repaired += notes.repaired
        if self._verdict.fits and not notes.errors:
            return self._verdict.values
        errors = list(notes.errors)
        if not self._verdict.fits:
            errors += self._explain()
        if where:
            for error in errors:
                error["loc"] = [*where, *error["loc"]]
        raise InvalidArguments(errors, partial(self._validator.find_fault, self._given)) from None

    def _explain(self) -> list[FieldError]:
        entries = self._validator.explain(self._verdict, self._data)
        if nulls := self._notes.nulls:
            # A null is to blame for being null, not for being left out.
            entries = [nulls.get(tuple(it["loc"]), it) if it["type"] == "missing" else it for it in entries]
        return [*self._name_renamed(entries), *entries] if self._notes.renamed else entries

    def _name_renamed(self, entries: Sequence[FieldError]) -> list[FieldError]:
        """List the places of invalid values that were sent under a name in another spelling."""
        wrong = [tuple(it["loc"]) for it in entries]
        found = [it for it in self._notes.renamed.items() if any(loc[: len(it[0])] == it[0] for loc in wrong)]
        return [
            make_misnamed(unknown_key.path, path, list(unknown_key.node["properties"])) for path, unknown_key in found
        ]


def _is_in(data: Any, path: Path) -> bool:
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True


# Members next to the arguments in calls of providers and protocols.
_BESIDE = frozenset(("name", "type", "id", "tool", "tool_name", "function", "function_name", "action", "call_id"))

_WRAPPERS = frozenset(
    "args arguments input inputs kwargs params parameters properties tool_input action_input function_args data"
    " payload body request function".split()
)

_MOST_LAYERS = 3


def find_wrapped(args: Mapping[str, Any], root: Schema) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """Find arguments inside an unknown object; return the wrapper's path and its content."""
    path: list[str] = []
    inner: Mapping[str, Any] = args
    known = root.get("properties", {})
    while len(path) < _MOST_LAYERS and (name := _choose_wrapper(inner, known)) is not None:
        held = read_container(inner[name])
        if not isinstance(held, dict):
            break
        path.append(name)
        inner = held
    is_known = bool(path) and (bool(inner) or path[-1] in _WRAPPERS)
    return (tuple(path), dict(inner)) if is_known and _looks_right(inner, root) else None


def _choose_wrapper(args: Mapping[str, Any], known: Mapping[str, Any]) -> str | None:
    if not known.keys().isdisjoint(args):
        return None
    names = [name for name in args if name not in _BESIDE]
    held = names if len(names) == 1 else [name for name in args if name == "function"] if not names else []
    if len(held) != 1:
        return None
    is_lone = len(args) == 1
    return held[0] if is_lone or held[0] in _WRAPPERS else None


def _looks_right(inner: Mapping[str, Any], root: Schema) -> bool:
    """Return whether an object looks like the arguments: some known names, and all required ones."""
    known = root.get("properties", {})
    if not inner:
        return not root.get("required")
    return not known.keys().isdisjoint(inner) and inner.keys() >= set(root.get("required", ()))
