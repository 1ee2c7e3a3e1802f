"""Compare what is offered before and after a reload: what was added, changed and removed."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from pydantic import BaseModel, Field

from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import hash_definition

# How deep what a function is made of is looked at.
_DEEPEST = 6


class Changes(BaseModel, defer_build=True):
    """Names of what differs from before."""

    added: list[str] = Field(default_factory=list)
    changed: list[str] = Field(
        default_factory=list,
        description="What says or does something else; of tools their definition, options or code.",
    )
    removed: list[str] = Field(default_factory=list)


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Changes:
    """Compare two mappings by their names and values."""
    return Changes(
        added=[name for name in new if name not in old],
        changed=[name for name, value in new.items() if name in old and old[name] != value],
        removed=[name for name in old if name not in new],
    )


def identify(tool: CompiledTool) -> tuple[Any, ...]:
    """Return what a tool says and does, as a value that is equal for equal tools that were loaded twice."""
    options = {field.name: _identify(getattr(tool.options, field.name), 0) for field in fields(tool.options)}
    return hash_definition(tool), tool.executor, sorted(options.items()), _identify(tool.function, 0)


def _identify(value: Any, depth: int) -> str:
    """Describe a value without its address and its place in a file, which differ where nothing else does."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, CodeType):
        return _identify_code(value, depth)
    if isinstance(value, FunctionType):
        return _identify_function(value, depth)
    if isinstance(value, MethodType):
        return f"{_identify(value.__func__, depth + 1)} of {_identify_object(value.__self__, depth)}"
    if isinstance(value, partial):
        return _identify((value.func, value.args, value.keywords), depth + 1)
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_identify(item, depth + 1) for item in value]
        return repr(parts if isinstance(value, list | tuple) else sorted(parts))
    if isinstance(value, Mapping):
        return repr([(_identify(key, depth + 1), _identify(item, depth + 1)) for key, item in value.items()])
    return repr(value) if isinstance(value, str | bytes | int | float | bool | None) else _identify_object(value, depth)


def _identify_code(code: CodeType, depth: int) -> str:
    # A code object as a whole is another where lines before it were added.
    consts = [_identify(const, depth + 1) for const in code.co_consts]
    return repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, consts))


def _identify_function(function: FunctionType, depth: int) -> str:
    held = [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]
    inner = (function.__code__, function.__defaults__, function.__kwdefaults__, held)
    return _identify(inner, depth + 1)


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # A name that is bound later.
        return False


def _identify_object(value: Any, depth: int) -> str:
    """Describe an object by its class, and the methods and values that it has."""
    kind = value if isinstance(value, type) else type(value)
    name = kind.__qualname__
    if is_dataclass(value) and not isinstance(value, type):
        return f"{name}{[_identify(getattr(value, field.name, None), depth + 1) for field in fields(value)]}"
    own = [member for member in vars(kind).values() if isinstance(member, FunctionType)]
    return f"{name}{[_identify(member, depth + 1) for member in own]}" if depth < 2 else name
