"""The page of settings says what the settings are."""

import pytest

from scripts.settings_page import PAGE, render_page
from sidecall.settings import Settings


def test_the_page_is_up_to_date() -> None:
    """`make docs` writes it anew."""
    assert PAGE.read_text() == render_page()


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_stands_there_once(name: str) -> None:
    """Anyone who adds one says to which group it belongs."""
    assert render_page().count(f"| `SIDECALL_{name.upper()}` |") == 1


@pytest.mark.parametrize(
    "row",
    [
        "| `SIDECALL_PORT` | `8000` | whole number, at least 0, at most 65535 | "
        "Port to listen on; 0 takes a free one. |",
        "| `SIDECALL_ENTRY_POINTS` | `true` | `true` or `false` | "
        "Whether installed packages may offer tools through the group `sidecall.tools`. |",
        "| `SIDECALL_TOOL_TIMEOUT` | `30.0` | number, above 0 | Seconds a tool may take unless it says otherwise. |",
        "| `SIDECALL_MAX_CONCURRENCY_PER_CALLER` |  | whole number, at least 1 | "
        "Most calls that run or wait at once for one caller; more get 429. |",
        "| `SIDECALL_LOG_LEVEL` | `info` | `debug`, `info`, `warning`, `error` | Least severe log lines to write. |",
        "| `SIDECALL_SECRETS_DIR` | `/run/secrets` | path | "
        "Folder whose files are secrets, looked up after the environment. |",
        "| `SIDECALL_LOG_REDACT` |  | texts, separated by commas | "
        "More names of fields whose values are never logged, separated by commas. |",
    ],
)
def test_a_row_says_default_values_and_meaning(row: str) -> None:
    """A setting that is not set by default has an empty cell."""
    assert row in render_page().splitlines()
