"""Write Python values as standard JSON."""

import json
import math
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from types import GeneratorType
from typing import Any

from msgspec.json import Encoder
from pydantic_core import PydanticSerializationError, SchemaSerializer, from_json, to_json, to_jsonable_python
from pydantic_core.core_schema import any_schema

from sidecall.kernel.core.errors import ToolFailure, ToolOutputError
from sidecall.kernel.json_data.fast_write import write_compact, write_spaced
from sidecall.kernel.json_data.large_values import (
    DEEPEST,
    MOST_WRITTEN,
    PieceWriter,
    TooLong,
    WrittenJson,
    bound_pieces,
    cut,
    has_pieces,
    is_piece,
    is_wrapper,
    list_pieces,
    write_pieces,
)
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.text import pause_collector

# A large result is not gone through once more for the sake of a name.
_MOST_LOOKS = 1_000
# Nor once for each level of what is too deep for JSON; the path of what lies deeper would not be shown.
_MOST_LEVELS = 100

_MOST_SHOWN = 100

_TABLE = ' Return its to_dict("records") or to_markdown() instead.'

_COLUMN = " Return its to_list() instead."

_IMAGE = " Return a ToolOutputImage with a data: URL of it instead, or keep its bytes with context.save_content."


def too_long_form(tool_name: str) -> ToolOutputError:
    """Build the error for a result whose JSON is too long."""
    return ToolOutputError(
        f"Error: {tool_name} returned a value of more than {MOST_WRITTEN} bytes as JSON. Ask for less."
    )


def no_json_form(tool_name: str, value: Any, part: str | None = None) -> ToolOutputError:
    """Build the error for a result that has no JSON form.

    `part` names the part of the answer, such as `artifact`, if there are several.
    """
    path, found = _find(value)
    kind = type(found).__name__
    place = f" at `{format_path(path)[:_MOST_SHOWN]}`" if path else ""
    owner = "" if part is None else f" of the {part}" if path else f" as the {part}"
    said = f"Error: {tool_name} returned a value of type {kind}{place}{owner}, which cannot be said in JSON."
    return ToolOutputError(said + _advise(found))


def _find(value: Any) -> tuple[tuple[str | int, ...], Any]:
    """Return the innermost value without a JSON form, and its path; no path if the search takes too long."""
    path: list[str | int] = []
    inner = value
    left = _MOST_LOOKS
    seen: set[int] = set()
    while id(inner) not in seen:
        seen.add(id(inner))
        for step, item in _list_members(inner):
            left -= 1
            if left < 0 or len(path) > _MOST_LEVELS:
                return (), value
            if not _has_form(item):
                path.append(step)
                inner = item
                break
        else:
            return tuple(path), inner
    return (), value


def _list_members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from ((str(key), item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
    elif hasattr(type(value), "__dataclass_fields__") or hasattr(type(value), "model_fields"):
        yield from getattr(value, "__dict__", {}).items()


def _has_form(value: Any) -> bool:
    try:
        to_plain(value)
    except ValueError:
        return False
    return True


def _advise(value: Any) -> str:
    library = type(value).__module__.partition(".")[0]
    if library == "PIL":
        return _IMAGE
    if library != "pandas":
        return ""
    return _TABLE if hasattr(value, "to_markdown") and hasattr(value, "columns") else _COLUMN


# Made once: json.dumps makes an encoder at every call.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

_anything = SchemaSerializer(any_schema())

_dump_plain = Encoder().encode

# An encoder takes ten times as long for a number that has no second form.
_PLAIN = 2**63

# Is told of each number that JSON does not have, and of the keys and indexes that lead to it.
Lose = Callable[[float, tuple[str | int, ...]], None]


def lose_silently(_number: float, _path: tuple[str | int, ...]) -> None:
    """Ignore a number without a JSON form."""


def dump_plain(value: Any) -> bytes:
    """Serialize JSON values to JSON, in less than half the time; others as pydantic does."""
    try:
        return _dump_plain(value)
    except (TypeError, ValueError):  # A model, or a text without a UTF-8 form.
        return to_json(value, inf_nan_mode="null")


def to_text(value: Any, lose: Lose = lose_silently) -> str:
    """Serialize a value to JSON text, spaced as LangChain does; models, sets and the like by pydantic, never as a repr.

    Raises:
        ValueError: JSON cannot say it.
    """
    if type(value) is int and abs(value) <= _PLAIN:
        return str(value)
    return to_text_and_value(value, lose)[0]


def to_text_and_value(value: Any, lose: Lose = lose_silently) -> tuple[str, Any]:
    """Serialize a value to JSON text; return the text and the JSON value that it represents.

    Raises:
        ValueError: JSON cannot say it.
    """
    try:
        return write_pieces(value, _TEXT), value
    except TooLong:
        raise
    except BaseException:  # JSON does not know it, or its own code crashed.
        plain = to_plain(value, lose)
    # A date, a UUID or a path is a text; quotes around it would only be in the way.
    return plain if isinstance(plain, str) else write_pieces(plain, _TEXT), plain


def _write_text(value: Any) -> str:
    return replace_surrogates(_encode(value))


_TEXT = PieceWriter(_write_text, ", ", ": ", write_spaced)


_SCALARS = frozenset((str, int, float, bool, type(None)))


def write_plainly(said: Mapping[str, Any]) -> bytes:
    """Write an object as `to_plain` would have it, in one step where its members are plain, as they mostly are.

    Raises:
        ValueError: JSON cannot say it.
    """
    if _SCALARS.issuperset(map(type, said.values())):
        try:
            return to_json(said, inf_nan_mode="null")
        except ValueError:  # A text has no UTF-8 form.
            pass
    return to_json(to_plain(said))


def write_in_pieces(plain: Any) -> bytes:
    """Serialize a plain value that may be large, yielding to other threads between its parts."""
    return b"".join(list_pieces(plain, _BYTES))


_BYTES = PieceWriter(dump_plain, b",", b":", write_compact)


def to_plain(value: Any, lose: Lose = lose_silently) -> Any:
    """Convert a value to JSON types: NaN and Infinity become null, bytes base64url, models objects.

    Args:
        value: Anything.
        lose: Is told of each number that becomes null.

    Raises:
        ValueError: JSON cannot say it.
    """
    if type(value) is str:  # Which may be long.
        return replace_surrogates(value)
    return _convert(value, lose, _reduce_pieces)


def to_written(value: Any, lose: Lose = lose_silently) -> Any:
    """Convert a value like `to_plain`; a large list or object is written at once, and kept as its bytes.

    Raises:
        ValueError: JSON cannot say it.
    """
    return replace_surrogates(value) if type(value) is str else _convert(value, lose, _write_long)


def _convert(value: Any, lose: Lose, convert_long: Callable[[Any, Lose], Any]) -> Any:
    try:
        if not has_pieces(value):
            return _reduce_whole(value, lose)
        with pause_collector():  # It would hold up all threads to go through what is made, again and again.
            return convert_long(value, lose)
    except TooLong:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(str(error)) from error
    except BaseException as error:  # Properties, `__str__` and generators run code of the author's, which may crash.
        raise ValueError(f"{type(error).__name__} on the way to JSON") from error


def _reduce_whole(value: Any, lose: Lose) -> Any:
    try:
        text = _encode(value)  # In one step, since most results are plain; it uses up no generator.
    except Exception:  # JSON does not know it, or its own code crashed.
        text = _dump(_reduce(_write_keys(value)), lose)
    return from_json(replace_surrogates(text))


def _reduce_pieces(value: Any, lose: Lose, left: int = DEEPEST) -> Any:
    if left == 0 or not is_wrapper(value):
        written = write_compact(value)
        if written is not None:
            return from_json(written)
        if left == 0 or is_piece(value):
            return _reduce_whole(value, lose)
    if len(value) <= 1:
        if type(value) is dict:
            return {
                _write_key(key): _reduce_pieces(item, _tell_below(lose, key), left - 1) for key, item in value.items()
            }
        return [_reduce_pieces(item, _tell_below(lose, index), left - 1) for index, item in enumerate(value)]
    if type(value) is dict:
        return {key: item for part in cut(value) for key, item in _reduce_pieces(part, lose, left - 1).items()}
    plain: list[Any] = []
    for part in cut(value):
        plain += _reduce_pieces(part, _tell_from(lose, len(plain)), left - 1)
    return plain


def _write_long(value: Any, lose: Lose) -> WrittenJson:
    return WrittenJson(bound_pieces(list_pieces(value, _reducing(lose))))


def _reducing(lose: Lose) -> PieceWriter[bytes]:
    """Return the writer of plain values that tells of the numbers that are lost."""
    return PieceWriter(
        lambda value: to_json(_reduce_whole(value, lose)),
        b",",
        b":",
        write_compact,
        lambda step: _reducing(_tell_below(lose, step)),
        lambda begin: _reducing(_tell_from(lose, begin)),
    )


def _tell_below(lose: Lose, step: str | int) -> Lose:
    return lambda number, path: lose(number, (step, *path))


def _tell_from(lose: Lose, begin: int) -> Lose:
    """Return a `lose` callback for a part of a list, with indexes offset by its position."""
    return lambda number, path: lose(number, (int(path[0]) + begin, *path[1:]))


def _reduce(value: Any) -> Any:
    try:
        return to_jsonable_python(value, bytes_mode="base64", by_alias=True, fallback=_reduce_unknown)
    except (PydanticSerializationError, UnicodeDecodeError, TypeError):
        # A model says its bytes as text, which not all are; here they are still bytes.
        apart = _replace_nat(_anything.to_python(value, by_alias=True, fallback=_reduce_unknown))
        return to_jsonable_python(apart, bytes_mode="base64", by_alias=True, fallback=_reduce_unknown)


def _replace_nat(value: Any) -> Any:
    """Replace pandas' NaT, a `datetime` that cannot be serialized, by NaN."""
    if isinstance(value, dict):
        return {key: _replace_nat(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_replace_nat(item) for item in value]
    return math.nan if type(value).__name__ == "NaTType" else value


# A generator can be read only once.
_SERIES = (list, tuple, GeneratorType)


def _write_keys(value: Any) -> Any:
    """Convert keys as `json` does, where pydantic differs or fails."""
    if type(value) is dict:
        return {_write_key(key): _write_keys(item) for key, item in value.items()}
    return [_write_keys(item) for item in value] if type(value) in _SERIES else value


def _write_key(key: Any) -> Any:
    return "null" if key is None else replace_surrogates(key) if type(key) is str else key


# What reads like a list, and has no form of its own in JSON.
_LISTS = (range, memoryview, KeysView, ValuesView, ItemsView)


def _reduce_unknown(value: Any) -> Any:
    """Convert values unknown to pydantic: pydantic 1 models to objects, others to text if their type defines `__str__`.

    Python's default repr is refused, since it tells the model nothing.
    """
    if isinstance(value, _LISTS):
        return value.tolist() if isinstance(value, memoryview) else list(value)
    kind: Any = type(value)
    if kind.__module__ == "numpy":
        return _reduce_numpy(value)
    if kind.__name__ == "NAType":  # What tables of pandas lack.
        return math.nan
    if hasattr(kind, "__fields__") and hasattr(kind, "parse_obj"):
        return value.dict(by_alias=True)
    if kind.__str__ is object.__str__:
        raise ValueError(f"{kind.__name__} has no JSON form")
    return str(value)


def _reduce_numpy(value: Any) -> Any:
    """Convert a numpy scalar or array to Python's types, without importing numpy."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if getattr(value, "ndim", 0):
        return value.tolist() if kind in _NUMBERS else list(value)
    if kind in _NUMBERS:
        return float(value) if kind == "f" else value.item()
    text = str(value)
    return math.nan if text == "NaT" else text


# Truth values, integers and floats, by the letters of numpy.
_NUMBERS = frozenset("biuf")


def _dump(plain: Any, lose: Lose) -> str:
    try:
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_replace_nan(plain, (), lose), ensure_ascii=False)


def _replace_nan(plain: Any, path: tuple[str | int, ...], lose: Lose) -> Any:
    if isinstance(plain, float) and not math.isfinite(plain):
        lose(plain, path)
        return None
    if isinstance(plain, dict):
        return {key: _replace_nan(item, (*path, key), lose) for key, item in plain.items()}
    if isinstance(plain, list):
        return [_replace_nan(item, (*path, index), lose) for index, item in enumerate(plain)]
    return plain


def too_large(tool_name: str, what: str, size: int, most: int) -> ToolOutputError:
    """Build the error for a part of a result that exceeds its size limit."""
    return ToolOutputError(
        f"Error: {tool_name} returned {what} of {size:,} bytes as JSON; at most {most:,} are passed on."
    )


def render_failure(failure: ToolFailure) -> str:
    """Format a failure for the model; content without a JSON form becomes the default message."""
    content = failure.content
    try:
        return content if isinstance(content, str) else to_text(content)
    except ValueError:
        return failure.message


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which have no UTF-8 form."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
