"""What a process logs and prints is written in its order, and before each of its ends."""

import subprocess
import sys

import pytest

BEGIN = """
import logging, logging.config, os, sys, threading, warnings
from sidecall.features.telemetry.calls import make_log_config
from sidecall.features.telemetry.log_writer import count_dropped, exit_now, redirect_streams, log_last
redirect_streams(1048576)
logging.config.dictConfig(make_log_config("info", "json"))
log = logging.getLogger("sidecall")
"""


def run(script: str, *, merged: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a program whose output is redirected."""
    to = subprocess.STDOUT if merged else subprocess.PIPE
    command = [sys.executable, "-c", BEGIN + script]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=to, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param("sys.exit(3)", 3, id="in order"),
        pytest.param("exit_now(4)", 4, id="at once"),
        pytest.param("raise KeyError('canary')", 1, id="by an exception"),
    ],
)
def test_everything_is_written_before_the_end(end: str, code: int) -> None:
    """Also what is no whole line yet."""
    script = f"for number in range(500): log.info('line %d', number)\nprint('printed', end='')\n{end}"

    done = run(script)
    logged = [line for line in done.stderr.splitlines() if '"event":"line ' in line]

    assert done.returncode == code
    assert [line.split('"event":"line ')[1] for line in logged] == [f'{number}"}}' for number in range(500)]
    assert done.stdout == "printed"
    assert ("KeyError: 'canary'" in done.stderr) is (code == 1)


def test_streams_that_lead_to_the_same_file_keep_their_order() -> None:
    """Prints, lines of the log, warnings, tracebacks of threads, and what a signal handler says."""
    script = """
print("one")
log.info("two")
print("three", file=sys.stderr)
warnings.warn("four")
threading.Thread(target=lambda: [][5]).start()
while threading.active_count() > 2: pass
log_last("six")
sys.stdout.write("sev"); sys.stdout.write("en\\n")
print(sys.stdout.isatty(), sys.stderr.fileno(), sys.stdout.encoding, count_dropped())
"""
    words = ("one", "two", "three", "four", "IndexError", "six", "seven", "False 2 utf-8 0")

    done = run(script, merged=True)
    places = [done.stdout.index(word) for word in words]

    assert done.returncode == 0
    assert places == sorted(places)


def test_a_process_that_is_forked_off_writes_for_itself() -> None:
    """Nothing twice, nothing lost, no matter how it ends."""
    script = """
import warnings
warnings.simplefilter("ignore")  # Newer Pythons warn of forking beside threads.
log.info("before")
child = os.fork()
if child == 0:
    log.info("in the child")
    print("printed there")
    os._exit(0)
os.waitpid(child, 0)
log.info("after")
"""
    done = run(script)
    said = [line.rpartition('"event":')[2] for line in done.stderr.splitlines()]

    assert sorted(said) == ['"after"}', '"before"}', '"in the child"}']
    assert done.stdout == "printed there\n"
