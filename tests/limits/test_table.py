"""All that an outsider can make grow has a bound, which the table says, and which holds."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts.settings_page import show_default
from sidecall.settings import Settings
from tests.kit.clients import MakeClient
from tests.kit.forked import origin
from tests.kit.servers import end, start
from tests.limits.by_caller import BY_CALLER
from tests.limits.by_catalog import BY_CATALOG
from tests.limits.by_content import BY_CONTENT
from tests.limits.by_files import BY_FILES
from tests.limits.by_fleet import BY_FLEET
from tests.limits.by_history import BY_HISTORY
from tests.limits.by_mcp import BY_MCP
from tests.limits.by_outgoing import BY_OUTGOING
from tests.limits.by_remembered import BY_REMEMBERED
from tests.limits.by_request import BY_REQUEST
from tests.limits.by_sandbox import BY_SANDBOX
from tests.limits.by_socket import BY_SOCKET, LAST, NARROW
from tests.limits.by_upstream import BY_UPSTREAM
from tests.limits.by_workspace import BY_WORKSPACE
from tests.limits.table import Row, read_rows

__all__ = ["origin"]

TRIED = {
    **BY_CALLER,
    **BY_CATALOG,
    **BY_CONTENT,
    **BY_FILES,
    **BY_FLEET,
    **BY_HISTORY,
    **BY_MCP,
    **BY_OUTGOING,
    **BY_REMEMBERED,
    **BY_REQUEST,
    **BY_SANDBOX,
    **BY_UPSTREAM,
    **BY_WORKSPACE,
}
ROWS = {row.what: row for row in read_rows()}
FIELDS = Settings.model_fields
BOUNDS = [name for name in FIELDS if name.startswith("max_") or name.endswith("_bytes") or "limit" in name]


def test_each_row_is_tried_once() -> None:
    """By a request, or on a socket; a row that nothing tries may promise anything."""
    assert Counter([*TRIED, *BY_SOCKET, *LAST]) == Counter(row.what for row in read_rows())


def test_each_row_has_a_bound() -> None:
    """Only what an operator has to switch on has none by itself."""
    unbound = {row.setting for row in ROWS.values() if not row.bound}

    assert unbound == {"budget", "max_artifact_bytes_per_caller", "max_concurrency_per_caller", "rate_limit"}
    assert [row.what for row in ROWS.values() if not row.answer] == []


def test_each_setting_that_is_a_bound_has_a_row() -> None:
    """One that is new is tried, or it is no bound."""
    assert set(BOUNDS) - {row.setting for row in ROWS.values()} == set()


@pytest.mark.parametrize("row", [row for row in ROWS.values() if row.setting], ids=lambda row: row.what)
def test_the_bound_of_a_row_is_the_default_of_its_setting(row: Row) -> None:
    """As it would stand in the environment."""
    assert row.setting is not None
    assert row.bound == show_default(FIELDS[row.setting])


@pytest.mark.parametrize("what", [*TRIED])
async def test_a_request_beyond_a_bound_is_answered_as_the_table_says(make_client: MakeClient, what: str) -> None:
    """With the bound lowered, where it can be."""
    assert await TRIED[what](make_client) == ROWS[what].answer


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[dict[str, Future[str]]]:
    """Try all sockets at once, since most of them take a second."""
    tools = str(Path(__file__).with_name("offered.py"))
    server = start(tmp_path_factory.mktemp("server"), "--tools", tools, environment=NARROW)
    with ThreadPoolExecutor(len(BY_SOCKET)) as threads:
        tried = {what: threads.submit(provoke, server) for what, provoke in BY_SOCKET.items()}
    with ThreadPoolExecutor(1) as threads:
        tried |= {what: threads.submit(provoke, server) for what, provoke in LAST.items()}
    yield tried
    end(server.process)


@pytest.mark.parametrize("what", [*BY_SOCKET, *LAST])
def test_bytes_beyond_a_bound_are_answered_as_the_table_says(said: dict[str, Future[str]], what: str) -> None:
    """Where only a socket shows it."""
    assert said[what].result(60) == ROWS[what].answer
