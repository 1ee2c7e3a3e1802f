"""Large answers leave nothing behind."""

import platform
import subprocess
import sys

import pytest

# The first large piece that is freed has glibc map no others of its size by themselves.
CODE = """
from sidecall.server.interpreter import give_memory_back

def resident() -> int:
    return int(open("/proc/self/statm").read().split()[1]) * 4096 // 1_000_000

give_memory_back()
bytearray(20_000_000)
answers = [b"x" * 1_000_000 + b"y" for _ in range(100)]
full = resident()
del answers[:-1]
print(full - resident())
"""

# Each heap but the first lies in 64 MB of its own, of which the kernel shows a part that is used and, up to the end,
# one that is not yet to be used. What else begins at such a place by chance has no such end.
HEAPS = """
import re
import threading

from sidecall.server.interpreter import give_memory_back

give_memory_back()
kept, done, ended = [], threading.Barrier(5), threading.Barrier(5)

def take() -> None:
    kept.append([b"x" * (600 + size) for size in range(10_000)])
    done.wait()
    ended.wait()

for _ in range(4):
    threading.Thread(target=take).start()
done.wait()
maps = open("/proc/self/maps").read()
ended.wait()
found = re.findall(r"^(\\w+)-(\\w+) (....)", maps, re.M)
spans = [(int(first, 16), int(last, 16), rights) for first, last, rights in found]
print(sum(
    (rights, end[2]) == ("rw-p", "---p") and last == end[0] and first % (64 << 20) == 0 and end[1] - first == 64 << 20
    for (first, last, rights), end in zip(spans, spans[1:])
))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is for glibc")
def test_what_was_freed_goes_back_to_the_system() -> None:
    """Also what lies before something that stays."""
    given = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True, text=True).stdout

    assert int(given) > 80


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is for glibc")
def test_threads_have_no_heaps_of_their_own() -> None:
    """Each would keep what its tools have freed."""
    counted = subprocess.run([sys.executable, "-c", HEAPS], capture_output=True, check=True, text=True).stdout

    assert int(counted) == 0
