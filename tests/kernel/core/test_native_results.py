"""What tools return that implement built-in tools is a text that any model reads."""

from typing import Any

import pytest

from sidecall.kernel.core.native_results import is_native_type, read_native
from sidecall.native import BrowserState, CommandResult, FoundTools, PatchResult, Screenshot

TAB = {"tab_id": "1", "title": "Home", "url": "https://example.com", "active": True}


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        (CommandResult("hi\n"), "hi"),
        ([CommandResult("hi\n")], "hi"),
        ([CommandResult()], "[no output]"),
        ([CommandResult("a\n", "b\n", 3)], "a\nb\n[exit code 3]"),
        ([CommandResult("a", timed_out=True, exit_code=None)], "a\n[timed out]"),
        (
            [CommandResult("a\n"), CommandResult(exit_code=1)],
            "--- command 1 of 2 ---\na\n--- command 2 of 2 ---\n[exit code 1]",
        ),
        (PatchResult(completed=True), "Done."),
        (PatchResult(True, "Updated a.py."), "Updated a.py."),
        (PatchResult(completed=False), "The patch was not applied."),
        (FoundTools([{"type": "function", "name": "add"}, {"function": {"name": "sub"}}]), "add\nsub"),
        (FoundTools([]), "No tool was found."),
        (Screenshot(b"png"), [{"type": "image", "base64": "cG5n", "mime_type": "image/png"}]),
        (
            ["Clicked.", Screenshot(b"png", "https://example.com", "No such button.")],
            [
                {"type": "text", "text": "Clicked."},
                {"type": "text", "text": "No such button."},
                {"type": "text", "text": "The page is https://example.com"},
                {
                    "type": "image",
                    "base64": "cG5n",
                    "mime_type": "image/png",
                    "extras": {"url": "https://example.com"},
                },
            ],
        ),
        (
            BrowserState([TAB], [{"type": "tab_opened", "tab_id": "1"}]),
            [
                {
                    "type": "text",
                    "text": "Open tabs (1):\n* [1] Home https://example.com\ntab_opened 1",
                    "extras": {
                        "browser_state": {
                            "type": "browser_state",
                            "tabs": [TAB],
                            "state_changes": [{"type": "tab_opened", "tab_id": "1"}],
                        }
                    },
                }
            ],
        ),
    ],
)
def test_a_result_can_be_read(returned: Any, content: Any) -> None:
    """By the models of every provider."""
    message = read_native(returned)
    assert message is not None
    assert message.content == content


@pytest.mark.parametrize(
    ("returned", "status"),
    [
        (CommandResult(exit_code=3), "success"),
        (CommandResult(timed_out=True), "success"),
        (PatchResult(completed=True), "success"),
        (PatchResult(completed=False), "error"),
        (Screenshot(b""), "success"),
        (Screenshot(b"", error="No."), "error"),
    ],
)
def test_what_could_not_be_done_has_failed(returned: Any, status: str) -> None:
    """A command that fails has been run."""
    message = read_native(returned)
    assert message is not None
    assert message.status == status


@pytest.mark.parametrize("returned", ["text", ["a", "b"], [], {"stdout": ""}, [PatchResult(completed=True), 3], None])
def test_other_values_are_left_alone(returned: Any) -> None:
    """They go the way of every value."""
    assert read_native(returned) is None


def test_lines_of_pages_are_folded() -> None:
    """A title cannot pose as another line, and is not longer than the API takes."""
    state = BrowserState([{**TAB, "title": "a\nb\u202ec\ud800", "url": "x" * 5000}])
    message: Any = read_native(state)
    (tab,) = message.content[0]["extras"]["browser_state"]["tabs"]
    assert (tab["title"], len(tab["url"])) == ("a b c\ufffd", 4096)
    assert "state_changes" not in message.content[0]["extras"]["browser_state"]


@pytest.mark.parametrize(
    ("annotation", "is_one"),
    [
        (CommandResult, True),
        (list[CommandResult], True),
        (PatchResult | str, True),
        (list[str], False),
        (Any, False),
        (None, False),
        ("text", False),
    ],
)
def test_annotations_are_known(annotation: Any, is_one: bool) -> None:
    """Such tools have no schema of their results, whose texts have none."""
    assert is_native_type(annotation) is is_one
