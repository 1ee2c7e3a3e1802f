"""What adapters of frameworks share: parameters in the shapes that frameworks take, states as JSON, and texts."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_jsonable_python

from sidecall.client.answers import ToolAnswer

_PLACE = "#/$defs/"


class ServerArguments(BaseModel, defer_build=True):
    """The arguments of a tool, unchanged: the server checks them, and says to the model what is wrong."""

    model_config = ConfigDict(extra="allow")

    listed_schema: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def model_json_schema(cls, *_args: Any, **_options: Any) -> dict[str, Any]:
        """Return the schema that the server lists; each caller gets a copy."""
        return deepcopy(dict(cls.listed_schema))


def make_schema_model(name: str, parameters: Mapping[str, Any]) -> type[ServerArguments]:
    """Return a model with these parameters as its schema, for frameworks that take them only as a model.

    It takes any arguments. Fields made from the schema would change large integers, nulls and names such as `copy`.
    """
    listed = {"type": "object", "properties": {}, "required": [], **parameters}
    return type(name, (ServerArguments,), {"listed_schema": listed, "__module__": __name__})


def inline_properties(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schemas of parameters without any reference, for frameworks that take each on its own.

    Where a schema contains itself, its inner place has only its type and its description.
    """
    defs = parameters.get("$defs", {})
    return {name: _inline(schema, defs, ()) for name, schema in parameters.get("properties", {}).items()}


def _inline(schema: Any, defs: Mapping[str, Any], around: tuple[str, ...]) -> Any:
    if isinstance(schema, list):
        return [_inline(it, defs, around) for it in schema]
    if not isinstance(schema, Mapping):
        return schema
    place = schema.get("$ref")
    name = place.removeprefix(_PLACE) if isinstance(place, str) else None
    if name is None or name not in defs:
        return {key: _inline(it, defs, around) for key, it in schema.items()}
    beside = {key: it for key, it in schema.items() if key != "$ref"}
    if name in around:
        return {key: it for key, it in defs[name].items() if key in ("type", "description")} | beside
    return {**_inline(defs[name], defs, (*around, name)), **_inline(beside, defs, around)}


def name_arguments(parameters: Mapping[str, Any], values: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name; those given without one belong to the first parameters.

    Raises:
        TypeError: There are more of them than parameters.
    """
    names = list(parameters.get("properties", {}))
    if len(values) > len(names):
        raise TypeError(f"there are {len(values)} arguments without a name, for {len(names)} parameters")
    return {**dict(zip(names, values, strict=False)), **named}


class AnswerText(str):
    """The text of an answer for the model, and the answer itself, with its artifact, for the program."""

    answer: ToolAnswer


def read_text(answer: ToolAnswer) -> AnswerText:
    """Return what the model reads of an answer.

    A call that waits for a person has not failed: the model reads what it waits for.

    Raises:
        ToolFailed: The call failed; the exception's text is for the model.
    """
    if answer.approval is None:
        answer.raise_for_status()
    text = AnswerText(answer.text)
    text.answer = answer
    return text


def make_sendable(value: Any) -> Any:
    """Convert a value to JSON.

    Bytes become base64url, NaN and Infinity null, and objects without a JSON form text.

    Raises:
        ValueError: It contains itself.
    """
    said = to_jsonable_python(value, fallback=str, bytes_mode="base64", inf_nan_mode="null")
    return _replace_surrogates(said)


def _replace_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which come from file names and broken JSON and have no UTF-8 form."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {_replace_surrogates(key): _replace_surrogates(inner) for key, inner in value.items()}
    return [_replace_surrogates(inner) for inner in value] if isinstance(value, list) else value
