"""Large answers leave nothing behind."""

import platform
import subprocess
import sys

import pytest

# The first large piece that is freed has glibc map no others of its size by themselves.
CODE = """
from sidecall.serving.memory import give_memory_back

def resident() -> int:
    return int(open("/proc/self/statm").read().split()[1]) * 4096 // 1_000_000

give_memory_back()
bytearray(20_000_000)
answers = [b"x" * 1_000_000 + b"y" for _ in range(100)]
full = resident()
del answers[:-1]
print(full - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is for glibc")
def test_what_was_freed_goes_back_to_the_system() -> None:
    """Also what lies before something that stays."""
    given = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True, text=True).stdout

    assert int(given) > 80
