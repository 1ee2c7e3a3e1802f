"""The coding agents mend a failing test in a workspace, as real processes between a scripted model and a server."""

from collections.abc import Iterator

import pytest

from tests.e2e.coders import MENDED, call, run_coder
from tests.e2e.conftest import Serve
from tests.e2e.scripted_coders import running_coders
from tests.features.sandbox.machine import open_once
from tests.kit.servers import Server


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve files and a shell in a sandbox, which may run Python without asking."""
    open_once()
    environment = {
        "SIDECALL_WORKSPACE_DIR": str(tmp_path_factory.mktemp("workspaces")),
        "SIDECALL_SHELL_ALLOW": "python3",
    }
    return start_server("--toolkit", "files", "--toolkit", "shell", **environment)


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    """Serve both models."""
    with running_coders() as url:
        yield url


def test_openais_coder_mends_the_test(server: Server, models: str) -> None:
    """With shell and patches, of which one does not fit at first."""
    lines = run_coder("openai", server, models)

    failed, passed = ({"type": "exit", "exit_code": code} for code in (1, 0))
    assert lines == [str([failed, "failed", "completed", passed])]
    assert call(server, "openai", "read", file_path="sums.py") == MENDED


def test_anthropics_coder_mends_the_test(server: Server, models: str) -> None:
    """With bash, editor and memory, two of them in one turn."""
    lines = run_coder("anthropic", server, models)

    assert lines[0] == "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    assert lines[2:4] == [
        "Here's the result of running `cat -n` on /workspace/sums.py:",
        "The file sums.py has been edited. Here's the result of running `cat -n` on a snippet of sums.py:",
    ]
    assert lines[-1] == "File created successfully at: /memories/done.md"
    assert call(server, "anthropic", "read", file_path="sums.py") == MENDED
    assert call(server, "anthropic", "read", file_path="memories/done.md") == "Sums are mended.\n"
