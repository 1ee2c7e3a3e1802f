"""The place where something is written is named for its author."""

import re
from typing import Any

import pytest

from sidecall.compiler.signature import find_source


def _synchronous() -> None:
    """Take."""


class _Callable:
    """Something that is called."""

    def __call__(self) -> None:
        """Take."""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(_Callable, "tests.compiler.test_signature_source._Callable", id="class"),
        pytest.param(_Callable(), "tests.compiler.test_signature_source._Callable", id="object"),
        pytest.param(len, "builtins.builtin_function_or_method", id="builtin"),
        pytest.param(3, "builtins.int", id="not callable"),
    ],
)
def test_the_source_is_named_for_the_author(target: Any, expected: str) -> None:
    """What has no code has a class."""
    assert find_source(target) == expected


@pytest.mark.parametrize("target", [_synchronous, _Callable().__call__], ids=["function", "method"])
def test_the_source_of_code_is_a_file_relative_to_the_working_directory(target: Any) -> None:
    """With the line, as editors open it."""
    assert re.fullmatch(r"tests/compiler/test_signature_source\.py:\d+", find_source(target))


def test_the_source_outside_the_working_directory_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The author may start the server anywhere."""
    monkeypatch.chdir(tmp_path)

    assert find_source(_synchronous).startswith("/")
