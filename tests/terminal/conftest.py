"""The program in this process, as tests of commands have it."""

from tests.cli.conftest import sidecall_here
from tests.kit.forked import origin

__all__ = ["origin", "sidecall_here"]
