"""Run the code of the page about frameworks, which tests hand over with the addresses of their servers."""

import contextlib
import io
import os
from typing import Any


def run_recipe(**names: Any) -> str:
    """Run it with these names, and return what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(os.environ["RECIPE"], names)
    return said.getvalue()
