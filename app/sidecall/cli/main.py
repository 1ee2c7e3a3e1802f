"""The program `sidecall`."""

import sys
from collections.abc import Callable

from pydantic_core import ValidationError

from sidecall.cli.commands import cli
from sidecall.kernel.core.errors import SidecallError
from sidecall.lazy_imports import later

# With which the framework comes, and what prints in colours.
_explain: Callable[[BaseException], bool] = later("sidecall.cli.errors:explain")


def main() -> None:
    """Run the program; what the author or operator has to mend is said in a sentence, with exit code 1."""
    try:
        cli()
    except (SidecallError, ValidationError, OSError, RuntimeError) as error:
        if not _explain(error):
            raise
    sys.exit(1)
