"""Advise on unresolvable names in annotations."""

from typing import Any

from sidecall.kernel.schema.signature import unwrap


def advise_on_name(function: Any, name: str | None) -> str:
    """Return advice on an unresolvable name in an annotation.

    Text annotations, as with `from __future__ import annotations`, are resolved in the module, which lacks names local
    to functions or classes.
    """
    name = name or "it"
    scope = str(getattr(unwrap(function), "__qualname__", "")).rpartition(".")[0]
    if "<locals>" in scope:
        return (
            f"Write {name} at the top level of the module, or import it there: the annotation is a text (quoted, or by"
            " `from __future__ import annotations`), in which what is local to a function is not found."
        )
    if scope:
        return f"Import it at the top of the module; if it stands in the class, write {scope}.{name}."
    return "Import it at the top of the module."
