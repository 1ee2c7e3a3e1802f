"""Run the code of the page about frameworks, which tests hand over, on the real packages."""

import contextlib
import io
import os
from typing import Any

# In the page; tests may have put another server there already.
ADDRESS = "http://127.0.0.1:8000"


def run_recipe(**names: Any) -> str:
    """Run it with these names, and return what it prints."""
    code = os.environ["RECIPE"].replace(ADDRESS, os.environ["SIDECALL_URL"])
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(code, "docs/frameworks.md", "exec"), {"__name__": "recipe", **names})
    return said.getvalue()


def conclude_recipe(model: Any) -> str:
    """Run it with a scripted model, and return the last line that it prints."""
    return run_recipe(model=model).strip().splitlines()[-1]
