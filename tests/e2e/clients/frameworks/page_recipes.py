"""Runs the code of the page about frameworks, with a scripted model, beside a framework."""

import contextlib
import io
import os
from typing import Any

ADDRESS = "http://127.0.0.1:8000"


def run_recipe(model: Any) -> str:
    """Run the code that `RECIPE` has, for which `model` is defined, against our server; return what it prints."""
    code = os.environ["RECIPE"].replace(ADDRESS, os.environ["SIDECALL_URL"])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs/frameworks.md", "exec"), {"model": model, "__name__": "recipe"})
    return printed.getvalue().strip().splitlines()[-1]
