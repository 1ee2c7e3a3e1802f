"""Explain an error of a command in a sentence."""

from pydantic_core import ErrorDetails, ValidationError
from rich.text import Text

from sidecall.http.application import format_system_refusal
from sidecall.kernel.core.errors import SidecallError
from sidecall.settings.sources import show_given
from sidecall.terminal.console import make_console

# Characters of a wrong value that are said back.
_MOST_OF_VALUE = 200


def explain(error: BaseException) -> bool:
    """Print what the author or operator has to change; return whether the error is one of those."""
    if isinstance(error, SidecallError):
        _complain(error.message)
    elif isinstance(error, ValidationError):
        for item in error.errors():
            _complain(_format(item))
    elif isinstance(error, OSError | RuntimeError) and (refusal := format_system_refusal(error)) is not None:
        _complain(refusal)
    else:
        return False
    return True


def _format(item: ErrorDetails) -> str:
    """Format an invalid setting: its name, the reason, and the value, so that stray quotes and spaces are visible."""
    # Where a setting has several values, what follows says which of them.
    setting = "".join(str(part) for part in item["loc"][:1]).upper()
    reason = str(item.get("ctx", {}).get("error", item["msg"]))
    if item["type"] == "bool_parsing":
        reason = "write true or false"
    if not setting:  # It is about several, which it names.
        return reason
    given = show_given(setting.lower(), item["input"])
    said = f"setting SIDECALL_{setting}: {reason}"
    return said if given is None else f"{said}; it is {given[:_MOST_OF_VALUE]}"


def _complain(message: str) -> None:
    said = Text.assemble(("error:", "bold red"), f" {message}")
    make_console(to_err=True, soft_wrap=True).print(said)
