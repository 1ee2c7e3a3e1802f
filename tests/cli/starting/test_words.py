"""What is plain is read without what explains commands; all else is left to that."""

from typing import Any

import pytest

from sidecall.cli.starting.fast_arguments import read_serve


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("serve", {}),
        ("serve --port 0 --host 0.0.0.0", {"port": 0, "host": "0.0.0.0"}),
        ("serve --workers 2 --reload", {"workers": 2, "reload": True}),
        ("serve --reload --tools a.py --tools b.py", {"reload": True, "tools": ["a.py", "b.py"]}),
        ("serve --toolkit files --toolkit shell", {"toolkits": ["files", "shell"]}),
        ("serve --allow-empty --port 1", {"allow_empty": True, "port": 1}),
        ("serve --port 1 --port 2", {"port": 2}),
    ],
)
def test_plain_words_are_read(line: str, given: dict[str, Any]) -> None:
    """As the program's own reader of commands would."""
    assert read_serve(line.split()) == given


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--version",
        "tools",
        "--help serve",
        "serve --help",
        "serve --port",
        "serve --port=8000",
        "serve --port x",
        "serve --port -1",
        "serve --port 1_0",
        "serve --prot 8000",
        "serve --tools --reload",
        "serve ./tools",
        "serve --reload now",
    ],
)
def test_what_may_need_a_word_is_left(line: str) -> None:
    """Also where the other reader would take it."""
    assert read_serve(line.split()) is None
