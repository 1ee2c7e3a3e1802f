"""Options under other libraries' names, and suggestions for misspelled ones."""

from collections.abc import Collection, Mapping
from typing import Any

from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.options import ToolAnnotations
from sidecall.kernel.suggest.fuzzy_match import find_likely_name

# The OpenAI Agents SDK's name, and ours.
_NAMES: Mapping[str, str] = {
    "name_override": "name",
    "description_override": "description",
    "strict_mode": "strict",
    "needs_approval": "requires_approval",
    "timeout_seconds": "timeout",
}


def rename_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Rename options from the names of `function_tool`.

    Raises:
        InvalidToolOption: An option is given under both names.
    """
    renamed: dict[str, Any] = {}
    for name, value in options.items():
        own = _NAMES.get(name, name)
        if own in renamed or (own != name and own in options):
            raise InvalidToolOption(f"@tool was given `{own}` twice; `{name}` is another name of it.")
        renamed[own] = value
    return _translate_values(renamed)


def _translate_values(options: dict[str, Any]) -> dict[str, Any]:
    if options.get("timeout_behavior") == "raise_exception":
        options["timeout_behavior"] = "raise"
    # None means there that the exception goes through; left out means a text.
    if options.get("failure_error_function", ...) is None:
        del options["failure_error_function"]
        options.setdefault("handle_tool_error", None)
    return options


def suggest_annotation(name: str) -> str:
    """Return the annotation that a misspelled one likely means; empty if none is similar."""
    meant = find_likely_name(name, ToolAnnotations.model_fields)
    return "" if meant is None else f" Did you mean {meant}?"


def refuse_option(name: str, known: Collection[str], arguments: Collection[str]) -> str:
    """Format the error for an unknown option: the nearest name and all known ones.

    Args:
        name: What was written.
        known: The options.
        arguments: What else may have been meant, such as the function.
    """
    meant = _NAMES.get(name) or find_likely_name(name, [*known, "name", *_NAMES, *arguments])
    hint = "the" if meant is None else f"did you mean {_NAMES.get(meant, meant)}? The"
    return f"there is no option `{name}`; {hint} options are: {', '.join(known)}."


def refuse_beside(given: Collection[str], known: Collection[str]) -> None:
    """Check the names of what is passed with a call.

    Raises:
        InvalidToolOption: Something is not.
    """
    wrong = next((name for name in given if name not in known), None)
    if wrong is not None:
        meant = find_likely_name(wrong, known)
        hint = "" if meant is None else f"; did you mean {meant}?"
        raise InvalidToolOption(f"nothing called `{wrong}` comes beside a call{hint}")
