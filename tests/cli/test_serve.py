"""`sidecall serve` starts with what it was told, or says why not; what it serves is tested in tests/e2e."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SidecallHere
from tests.kit.forked import run_sidecall
from tests.kit.projects import tool_file

pytestmark = pytest.mark.usefixtures("origin")


def serve(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as a process that is expected to end."""
    return run_sidecall("serve", *arguments, cwd=cwd)


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--reload", "--workers", "2"], {}),
        (["--reload"], {"SIDECALL_WORKERS": "2"}),
        ([], {"SIDECALL_WORKERS": "2", "SIDECALL_RELOAD": "true"}),
    ],
)
@pytest.mark.usefixtures("signals")
def test_reloading_with_many_workers_is_refused(
    sidecall_here: SidecallHere, arguments: list[str], environment: dict[str, str]
) -> None:
    """Only one of them would change; the remedy is said."""
    result = sidecall_here("serve", *arguments, **environment)

    assert result.returncode == 1
    assert result.stderr == "error: --reload works with one worker; leave out --workers.\n"


def test_a_place_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    """Nothing is served by half."""
    (tmp_path / "mine.py").touch()

    result = serve("--tools", "mine.py", "--tools", "other.py", cwd=tmp_path)

    assert result.returncode == 1
    assert f"There is no file or folder 'other.py' (looked in {tmp_path})." in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("import os\n\nos._exit(0)\n", 1, "mine.py:3 cannot be loaded: ExitRefused: os._exit(0) would end the process"),
        ("import sys\n\nsys.exit(0)\n", 1, "mine.py:3 cannot be loaded: SystemExit: 0"),
        (
            "import os, signal, time\n\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)\n",
            0,
            "ended by a signal before anything was served",
        ),
        ("import os\n\nos.abort()\n", -signal.SIGABRT, 'mine.py", line 3 in <module>'),
    ],
    ids=["os._exit", "sys.exit", "signal", "crash"],
)
def test_a_file_that_ends_the_process_does_not_do_so_in_silence(
    tmp_path: Path, text: str, code: int, said: str
) -> None:
    """At its import; else there would be an exit code and nothing to look at."""
    (tmp_path / "mine.py").write_text(text)

    result = serve("--port", "0", "--tools", "mine.py", cwd=tmp_path)

    assert result.returncode == code
    assert said in result.stderr


PICKY = '''
import os, sys

from sidecall import tool

if sys.argv[0] == "-c":
    {what}


@tool(executor="process")
def work() -> str:
    """Work."""
    return "done"
'''


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ('raise ValueError("not here")', "{file}:7 cannot be loaded: ValueError: not here"),
        ("os._exit(3)", "{file}:7 cannot be loaded: ExitRefused: os._exit(3) would end the process"),
        ("os.abort()", "Tools with executor='process' cannot be loaded: the tool's process "),
    ],
    ids=["raises", "ends", "crashes"],
)
def test_a_tool_that_its_process_cannot_load_stops_the_start(tmp_path: Path, what: str, said: str) -> None:
    """In a line that names the author's file, without the way that the server took there."""
    file = tmp_path / "mine.py"
    file.write_text(PICKY.format(what=what))

    result = serve("--port", "0", "--tools", "mine.py", cwd=tmp_path)

    assert result.returncode == 1
    assert "the server cannot start: " in result.stderr
    assert "serving 1 tool" not in result.stderr
    assert said.format(file=file) in result.stderr
    assert "Traceback" not in result.stderr


def test_a_port_that_is_taken_stops_the_start(tmp_path: Path) -> None:
    """The log says why nothing is served, and not that something is; nor of a store, which a first server may use."""
    (tmp_path / "mine.py").write_text(tool_file("one"))

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = serve("--port", port, "--tools", "mine.py", cwd=tmp_path)

    assert result.returncode == 3  # uvicorn's code for a start that failed
    assert "serving " not in result.stderr
    assert "in a browser" not in result.stderr
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --port" in result.stderr
    assert "remembered" not in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / ".sidecall").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "SIDECALL_STORE",
            "postgresql://nobody@127.0.0.1:9/none",
            "(SIDECALL_STORE) cannot be used: Connection refused",
        ),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "x", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT is 'x': write a whole number"),
    ],
)
def test_what_is_found_to_be_wrong_late_ends_the_start_as_other_settings_do(
    tmp_path: Path, workers: str, name: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same exit code, in workers too."""
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    (tmp_path / "mine.py").write_text(tool_file("one"))

    result = serve("--port", "0", "--tools", "mine.py", "--workers", workers, cwd=tmp_path)

    assert result.returncode == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_address_of_no_interface_stops_the_start(
    tmp_path: Path, workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is of those that documents use, and nobody has."""
    monkeypatch.setenv("SIDECALL_ALLOW_UNAUTHENTICATED", "true")
    (tmp_path / "mine.py").write_text(tool_file("one"))

    result = serve("--host", "192.0.2.1", "--port", "0", "--tools", "mine.py", "--workers", workers, cwd=tmp_path)

    assert result.returncode == 3
    assert "cannot listen on 192.0.2.1:0: Cannot assign requested address; no interface of this" in result.stderr
    assert "--host or SIDECALL_HOST" in result.stderr
    assert "Traceback" not in result.stderr


HEAVY = """
from sidecall import tool


@tool(executor="process")
def heavy() -> None:
    \"\"\"Work.\"\"\"
"""
LIMITED = """
import os, resource, sys

resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))
os.execv(sys.executable, {argv})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="another event loop needs another number of files")
@pytest.mark.parametrize("limit", [8, 10, 16, 18, 20])
def test_too_few_open_files_stop_the_start(tmp_path: Path, limit: int) -> None:
    """With a line that names what was refused, wherever they run out; Python itself needs the first few."""
    (tmp_path / "mine.py").write_text(tool_file("one"))
    argv = [sys.executable, "-m", "sidecall", "serve", "--port", "0", "--tools", "mine.py"]
    script = LIMITED.format(limit=limit, argv=argv)

    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert result.returncode in (1, 3)
    refusal = result.stderr[result.stderr.index("cannot start") :]
    assert "Too many open files" in refusal
    assert "aise the limit" in refusal
    assert "(ulimit -n, LimitNOFILE, --ulimit nofile)" in refusal
    assert "SIDECALL_STORE" not in refusal
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="another event loop needs another number of files")
@pytest.mark.parametrize("limit", [24, 27])
def test_too_few_open_files_for_what_tools_need_stop_the_start(tmp_path: Path, limit: int) -> None:
    """As few as leave none for tools' processes."""
    (tmp_path / "mine.py").write_text(HEAVY)
    argv = [sys.executable, "-m", "sidecall", "serve", "--port", "0", "--tools", "mine.py"]
    script = LIMITED.format(limit=limit, argv=argv)

    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert result.returncode in (1, 3)
    assert "raise the limit (ulimit -n, LimitNOFILE, --ulimit nofile)" in result.stderr.splitlines()[-2]
    assert "Traceback" not in result.stderr


def test_a_host_that_is_no_address_stops_the_start(tmp_path: Path) -> None:
    """Before tools are loaded, which may take long; the setting is named."""
    (tmp_path / "mine.py").write_text("1 / 0")

    result = serve("--host", "http://0.0.0.0", "--tools", "mine.py", cwd=tmp_path)

    assert result.returncode == 1
    assert "SIDECALL_HOST (or --host) is 'http://0.0.0.0', which is no address" in result.stderr
    assert "ZeroDivisionError" not in result.stderr


def test_a_wrong_option_is_a_mistake_of_usage(sidecall_here: SidecallHere) -> None:
    """Exit code 2, as everywhere."""
    result = sidecall_here("serve", "--port", "http")

    assert result.returncode == 2
    assert "Invalid value for '--port'" in result.stderr
