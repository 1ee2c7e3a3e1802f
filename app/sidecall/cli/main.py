"""The program `sidecall`, and the format of its errors."""

import sys

from pydantic_core import ErrorDetails, ValidationError

from sidecall.cli.commands import cli
from sidecall.kernel.core.errors import SidecallError
from sidecall.later import Later

# Which take as long to load as many of our rooms.
printing, rich_text = Later("sidecall.terminal.console"), Later("rich.text")
settings = Later("sidecall.settings.sources")
# With which the framework comes.
application = Later("sidecall.kernel.http.application")

# Characters of a wrong value that are said back.
_MOST_OF_VALUE = 200


def main() -> None:
    """Run the program; what the author or operator has to mend is said in a sentence, with exit code 1."""
    try:
        cli()
    except SidecallError as error:
        _complain(error.message)
    except ValidationError as error:
        for item in error.errors():
            _complain(_word(item))
    except (OSError, RuntimeError) as error:
        refusal = application.format_system_refusal(error)
        if refusal is None:
            raise
        _complain(refusal)
    sys.exit(1)


def _word(item: ErrorDetails) -> str:
    """Format an invalid setting: its name, the reason, and the value, so that stray quotes and spaces are visible."""
    # Where a setting has several values, what follows says which of them.
    setting = "".join(str(part) for part in item["loc"][:1]).upper()
    reason = str(item.get("ctx", {}).get("error", item["msg"]))
    if item["type"] == "bool_parsing":
        reason = "write true or false"
    if not setting:  # It is about several, which it names.
        return reason
    given = settings.show_given(setting.lower(), item["input"])
    said = f"setting SIDECALL_{setting}: {reason}"
    return said if given is None else f"{said}; it is {given[:_MOST_OF_VALUE]}"


def _complain(message: str) -> None:
    said = rich_text.Text.assemble(("error:", "bold red"), f" {message}")
    printing.make_console(to_err=True, soft_wrap=True).print(said)
