"""Find tools by their names in modules, so that they can be pickled."""

import operator
import sys
from typing import Any


def find_place(tool: object, function: Any) -> tuple[str, str] | None:
    """Return the names under which a module holds the tool made from a function, or None."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module is None or name is None or "<locals>" in name:
        return None
    try:
        held = operator.attrgetter(name)(sys.modules.get(module))
    except AttributeError:
        return None
    return (module, name) if held is tool else None


def find_again(module: str, name: str) -> Any:
    """Return the tool that a module holds."""
    __import__(module)
    return operator.attrgetter(name)(sys.modules[module])
