"""A method that only says that it is not there does not serve."""

from typing import Any

import pytest

from sidecall.authoring.overrides import only_refuses


class Refusing:
    """Methods of which some only say that there is nothing."""

    name = "it"

    async def plain(self) -> None:
        """Refuse."""
        raise NotImplementedError

    async def with_words(self, *args: Any) -> str:
        """Say so."""
        raise NotImplementedError(f"{self.name} does not support async")

    def in_steps(self) -> None:
        """Refuse in steps."""
        text = "no"
        raise NotImplementedError(text)

    def sometimes(self, given: bool) -> int:
        """Refuse sometimes."""
        if given:
            raise NotImplementedError
        return 1

    async def later(self, given: Any) -> None:
        """Refuse later."""
        await given
        raise NotImplementedError

    def returned(self) -> type[Exception]:
        """Return the error."""
        return NotImplementedError


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (Refusing().plain, True),
        (Refusing.with_words, True),
        (Refusing().in_steps, True),
        (Refusing().sometimes, False),
        (Refusing().later, False),
        (Refusing().returned, False),
        (len, False),
    ],
)
def test_a_method_that_only_refuses_is_known(function: Any, expected: bool) -> None:
    """By what it does, no matter where it comes from."""
    assert only_refuses(function) is expected
