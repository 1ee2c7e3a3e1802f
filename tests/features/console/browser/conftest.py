"""A page for forms in a real browser, one for all tests of a module."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.kit.browser import NAMES, find_browser
from tests.kit.forms.pages import call, open_page


@pytest.fixture(scope="module")
def program() -> str:
    """Find a browser."""
    found = find_browser()
    if found is None:
        pytest.skip(f"no browser here ({', '.join(NAMES)}): as root, scripts/install-browser gets one")
    return found


@pytest.fixture(scope="module")
def opened(program: str) -> Iterator[Page]:
    """Open the page once."""
    with open_page(program) as page:
        yield page


@pytest.fixture
def page(opened: Page) -> Iterator[Page]:
    """Give the page, and see that nothing on it was against its policy, or failed."""
    yield opened
    assert call(opened, "takeViolations") == []
