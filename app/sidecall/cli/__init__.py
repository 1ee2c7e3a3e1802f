"""The program `sidecall`, one command a file."""

# Both hold for the imports that follow, which take long, so they come first, and in this order.
from sidecall.cli import project as _project  # noqa: F401

# isort: split
from sidecall.cli import early as _early  # noqa: F401
