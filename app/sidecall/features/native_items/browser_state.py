"""The state of a browser in Anthropic's form."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# Characters in a page's own text that would break or reorder its line, and the line's maximum length.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST = 4096
_FOLDED = ("url", "title", "error")


def write_browser_state(tabs: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write the block of an answer; texts of pages are one bounded line each."""
    said = {"type": "browser_state", "tabs": [_fold(tab) for tab in tabs]}
    return {**said, "state_changes": [_fold(change) for change in changes]} if changes else said


def _fold(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: fold_line(value) if key in _FOLDED and isinstance(value, str) else value for key, value in told.items()
    }


def fold_line(text: str) -> str:
    """Write a text of a page on one line of bounded length."""
    return _UNSAFE.sub(" ", _SURROGATE.sub("\ufffd", text)).strip()[:_MOST]


def list_tabs(state: Mapping[str, Any]) -> str:
    """List the tabs in words, for models that have no such block."""
    lines = [
        f"{'*' if tab.get('active') else '-'} [{tab.get('tab_id')}] {tab.get('title') or ''} {tab.get('url') or ''}"
        for tab in state["tabs"]
    ]
    changes = [" ".join(str(value) for value in change.values()) for change in state.get("state_changes", ())]
    return "\n".join([f"Open tabs ({len(lines)}):", *lines, *changes])
