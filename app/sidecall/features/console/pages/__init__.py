"""The pages of the console, by their addresses. To add one: a module here, a template, and a line in the table."""

import re
from collections.abc import Mapping
from typing import NamedTuple, cast
from urllib.parse import unquote

from sidecall.features.console.visits import Show
from sidecall.kernel.core.scopes import CALL, DECIDE, OPERATE
from sidecall.lazy_imports import load_function

_MODULES = "sidecall.features.console.pages"


class Page(NamedTuple):
    """One page.

    Args:
        path: Below `/console/`; `{name}` stands for one part of it.
        show: The function that shows it, as `module:function` of this folder.
        scope: What a reader needs; for others it is not there.
        label: Its name in the navigation, of pages that stand there.
        key: The letter that leads there, behind `g`.
    """

    path: str
    show: str
    scope: str | None = None
    label: str | None = None
    key: str | None = None

    def load(self) -> Show:
        """Return the function that shows it."""
        return cast("Show", load_function(f"{_MODULES}.{self.show}"))


# In the order of the navigation.
PAGES = (
    Page("tools", "tools:list_tools", label="Tools", key="t"),
    Page("tools/{name}", "tools:show_tool"),
    Page("approvals", "approvals:list_approvals", DECIDE, label="Approvals", key="a"),
    Page("approvals/rules", "approvals:list_rules", DECIDE),
    Page("approvals/{id}", "approvals:show_approval"),
    Page("calls", "calls:list_calls", label="Calls", key="c"),
    Page("calls/{id}", "call:show_call"),
    Page("conversations", "conversations:list_conversations", label="Conversations", key="v"),
    Page("conversations/{id}", "conversations:show_conversation"),
    Page("health", "operation:show_health", OPERATE, label="Health", key="h"),
    Page("audit", "operation:list_audit", OPERATE, label="Audit", key="u"),
    Page("mcp-servers", "operation:list_mcp_servers", OPERATE, label="MCP", key="m"),
    Page("accounts", "session:show_accounts", CALL, label="Accounts", key="o"),
    Page("session", "session:show_session", label="Session", key="s"),
)
_PART = re.compile(r"\{(\w+)\}")
_FORMS = tuple((re.compile(_PART.sub(r"(?P<\1>[^/]+)", page.path)), page) for page in PAGES)


def find_page(path: str) -> tuple[Page, Mapping[str, str]] | None:
    """Return the page of a path below `/console/`, as it is written in addresses, and what its names stand for.

    Without such a page it is None.
    """
    for form, page in _FORMS:
        found = form.fullmatch(path)
        if found is not None:
            return page, {name: unquote(value) for name, value in found.groupdict().items()}
    return None
