"""Validate large values with pydantic in steps: other threads may run between them, and few errors are collected.

pydantic-core holds the interpreter's lock until it is done, with an error for each member of each union that a value
does not fit: half a second for what one call may bring. Here it calls back after each member of a list or object, where
the interpreter changes threads, and once enough members of a list or object are wrong, it takes the others for right:
the list or object is refused in any case. It also calls back after each look at a union, and gives up after too many:
where members of a union hold that union again, each level multiplies them.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from time import thread_time
from typing import Any, Literal, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, SchemaValidator, core_schema

from sidecall.kernel.core.field_errors import MOST_FIELDS
from sidecall.kernel.json_data.large_values import is_long

# How many values are validated while all others wait, where each may be one of several things.
MOST_CHOSEN = 1_000
# The same where a choice may lead back to itself.
_MOST_NESTED = 2

# How many errors are collected in one list or object, and how many in all before each may have one only.
_MOST_EACH = MOST_FIELDS + 1
_MOST = 10 * _MOST_EACH
# How often unions are looked at in one value, beside once for each part of it. A failure has errors of all members and
# counts as so many. More errors than this are not told in any case.
_MOST_LOOKS, _A_FAILURE, _MOST_ERRORS = 20_000, 20, 10_000
_MOST_PARTS = 200_000
# For how many seconds of a processor a value is validated, which are asked for rarely.
_MOST_SECONDS, _RARELY = 3.0, 0xFF
# What is read in one step, however long it is: bytes of an address, and values in a text of JSON.
_MOST_ADDRESS, _MOST_IN_TEXT = 65_536, 50_000
_ADDRESSES = ("url", "multi-host-url")
TOO_MANY_CHOICES = (
    "There are too many ways to read this, since its parts may be one of several things within each other. Send"
    " something with fewer levels"
)
_TOO_LONG = "This takes too long to check. Send less of it"
# Marks what is not pydantic's own in the places and among the types of errors.
_MARK = "\0sidecall"
_STOP = "sidecall_stop"
# Where schemas of members stand, by the type of what holds them.
_MEMBERS = {
    "list": ("items_schema",),
    "set": ("items_schema",),
    "frozenset": ("items_schema",),
    "tuple": ("items_schema",),
    "dict": ("keys_schema", "values_schema"),
    "model-fields": ("extras_schema", "extras_keys_schema"),
    "typed-dict": ("extras_schema",),
}
_SETS = frozenset(("set", "frozenset"))
_QUICK = frozenset(("int", "float", "bool", "none", "union"))
# What is no schema, and may look like one.
_OTHERS = frozenset("metadata serialization default expected members config cls ctx return_schema".split())


class _Count:
    """Members of the lists and objects of one value that do not fit."""

    __slots__ = ("all", "each", "ends", "looks", "most_looks", "passed", "value")

    def __init__(self, places: int, value: Any) -> None:
        self.value = value
        self.each = [0] * places
        self.all = self.looks = self.passed = 0
        self.most_looks = _MOST_LOOKS
        self.ends = thread_time() + _MOST_SECONDS

    def look(self, weight: int) -> None:
        """Count a look at a union."""
        self.looks += weight
        if self.looks > self.most_looks:
            self.most_looks = _MOST_LOOKS + _A_FAILURE * _count_parts(self.value)
            if self.looks > self.most_looks:
                raise _TooMuchError("too_many_choices", TOO_MANY_CHOICES)

    def rest(self) -> None:
        """Count a member, and give up where members cost too much, such as numbers whose hashes are the same."""
        self.passed += 1
        if not self.passed & _RARELY and thread_time() > self.ends:
            raise _TooMuchError("too_long", _TOO_LONG)

    def takes(self, place: int) -> bool:
        """Count a member that does not fit; return whether its error is collected."""
        own = self.each[place]
        if own >= _MOST_EACH or (own and self.all >= _MOST):
            return False
        self.each[place] = own + 1
        self.all += 1
        return True


_COUNT: ContextVar[_Count] = ContextVar("sidecall_misfits")


class _TooMuchError(Exception):
    """Ends a validation; pydantic lets it through."""


class StepwiseValidator:
    """Validates as the validator of a core schema does, but collects fewer errors where there are very many."""

    def __init__(self, schema: Any) -> None:
        """Compile a core schema of pydantic."""
        self._places = 0
        self._validator = SchemaValidator(self._open(schema), _use_prebuilt=False)

    def validate_python(self, value: Any, *, extra: Literal["forbid"] | None = None) -> Any:
        """Validate a value.

        Raises:
            ValidationError: It does not fit.
        """
        return self._validate(self._validator.validate_python, "python", value, extra)

    def validate_json(self, text: bytes, *, extra: Literal["forbid"] | None = None) -> Any:
        """Validate a JSON text, like `validate_python`."""
        return self._validate(self._validator.validate_json, "json", text, extra)

    def _validate(self, validate: Callable[..., Any], kind: Literal["python", "json"], value: Any, extra: Any) -> Any:
        token = _COUNT.set(_Count(self._places, value))
        try:
            return validate(value, extra=extra)
        except _TooMuchError as error:
            lines = [_make_line(*error.args)]
            raise ValidationError.from_exception_data(self._validator.title, lines, kind) from None
        except ValidationError as error:
            is_much = error.error_count() > _MOST_ERRORS
            lines = [_make_line("too_many_choices", TOO_MANY_CHOICES)] if is_much else list(_list_own(error))
            raise ValidationError.from_exception_data(error.title, lines, kind) from None
        finally:
            _COUNT.reset(token)

    def _open(self, schema: Any) -> Any:
        """Copy a core schema, with calls back after each member of a list or object."""
        if isinstance(schema, list | tuple):
            return type(schema)(self._open(it) for it in schema)
        if not isinstance(schema, dict):
            return schema
        made = {key: it if key in _OTHERS else self._open(it) for key, it in schema.items()}
        kind = str(made.get("type"))
        if kind == "union":
            return _call_back(made, _look, _fail)
        if kind in _ADDRESSES:
            return {**made, "max_length": min(made.get("max_length") or _MOST_ADDRESS, _MOST_ADDRESS)}
        if kind == "json":
            return core_schema.no_info_before_validator_function(_bound_text, made)
        members = [key for key in _MEMBERS.get(kind, ()) if made.get(key) is not None]
        return self._count_members(made, schema, members) if members else made

    def _count_members(self, made: dict[str, Any], schema: dict[str, Any], members: list[str]) -> Any:
        place = self._places
        self._places += 1

        def count(_: Any) -> None:
            if _COUNT.get().takes(place):
                raise PydanticCustomError(_STOP, _STOP)

        def end(_: Any) -> None:
            _COUNT.get().each[place] = 0
            raise PydanticCustomError(_STOP, _STOP)

        for key in members:
            # In a set, and among keys, values are compared with those that have the same hash.
            is_compared = key == "keys_schema" or made["type"] in _SETS
            opened = made[key] if isinstance(made[key], list) else [made[key]]
            plain = schema[key] if isinstance(schema[key], list) else [schema[key]]
            watched = [
                _call_back(it, None if _is_quick(own) and not is_compared else _pass, count)
                for it, own in zip(opened, plain, strict=True)
            ]
            made[key] = watched if opened is made[key] else watched[0]
        return _call_back(made, None, end)


def _is_quick(schema: Any) -> bool:
    """Return whether thousands of values are read within a millisecond, or each has a turn after it by itself."""
    kind = schema["type"]
    return _is_quick(schema["schema"]) if kind == "nullable" else kind in _QUICK


def _pass(value: Any) -> Any:
    """Return a member that fits; on the way the interpreter may change threads."""
    _COUNT.get().rest()
    return value


def _look(value: Any) -> Any:
    """Return what fits a union; on the way the interpreter may change threads."""
    count = _COUNT.get()
    count.rest()
    count.look(1)
    return value


def _fail(_: Any) -> None:
    """Refuse what fits no member of a union."""
    _COUNT.get().look(_A_FAILURE)
    raise PydanticCustomError(_STOP, _STOP)


def _bound_text(value: Any) -> Any:
    """Refuse a text of JSON with too many values to be read while all others wait."""
    text = value.encode(errors="replace") if isinstance(value, str) else value
    if isinstance(text, bytes | bytearray) and _count_parts(bytes(text)) > _MOST_IN_TEXT:
        said = f"JSON in a text may have at most {_MOST_IN_TEXT:,} values"
        raise PydanticCustomError("too_many_values", said)
    return value


def _call_back(schema: Any, fits: Callable[[Any], Any] | None, fails: Callable[[Any], None]) -> Any:
    """Make a schema that calls back where another one fits, or does not, and changes nothing else."""
    name = schema.get("ref") if isinstance(schema, dict) and "schema_ref" not in schema else None
    inner = {key: it for key, it in schema.items() if key != "ref"} if name is not None else schema
    done = inner if fits is None else core_schema.no_info_after_validator_function(fits, inner)
    made = _try(done, core_schema.no_info_plain_validator_function(fails))
    return made if name is None else {**made, "ref": name}


def _try(first: Any, otherwise: Any) -> dict[str, Any]:
    """Make a schema that calls back where another does not fit, and changes nothing where it does."""
    return {**core_schema.union_schema([(first, _MARK), (otherwise, _MARK)], mode="left_to_right")}


def _make_line(kind: Any, said: Any) -> InitErrorDetails:
    return InitErrorDetails(type=PydanticCustomError(kind, said), loc=(), input=None)


def _count_parts(value: Any) -> int:
    """Count the values in JSON data, as far as one call may bring, or at least as many in its text."""
    if isinstance(value, bytes):
        return sum(map(value.count, (b",", b"[", b"{")))
    parts, pending = 0, [value]
    while pending and parts < _MOST_PARTS:
        inside = pending.pop()
        if isinstance(inside, dict | list | tuple):
            parts += len(inside)
            pending.extend(inside.values() if isinstance(inside, dict) else inside)
    return parts


_KNOWN = frozenset(get_args(core_schema.ErrorType))


def _list_own(error: ValidationError) -> Iterator[InitErrorDetails]:
    """List the errors as pydantic says them of the schema that was given."""
    for it in error.errors(include_url=False):
        if it["type"] == _STOP:
            continue
        known = it["type"] in _KNOWN
        kind = it["type"] if known else PydanticCustomError(it["type"], it["msg"], it.get("ctx"))
        # Members of unions that are lists are named in the places, too, and by a name that has ours in it.
        loc = tuple(step for step in it["loc"] if not (isinstance(step, str) and _MARK in step))
        line = InitErrorDetails(type=kind, loc=loc, input=it["input"])
        yield {**line, "ctx": it["ctx"]} if known and "ctx" in it else line


def validate(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Validate a value by a type, in steps where it is large.

    Raises:
        ValidationError: It does not fit.
    """
    # Definitions are there where a type refers to itself.
    most = _MOST_NESTED if adapter.core_schema["type"] == "definitions" else MOST_CHOSEN
    if is_long(value, most):
        return _compile(adapter).validate_python(value)
    return adapter.validate_python(value)


# Types of large values are few, and to compile one takes longer than to validate by it.
@lru_cache(64)
def _compile(adapter: TypeAdapter[Any]) -> StepwiseValidator:
    return StepwiseValidator(adapter.core_schema)
