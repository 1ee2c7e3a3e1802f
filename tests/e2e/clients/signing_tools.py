"""A tool that acts for a person, who has to sign in first."""

import itertools
from typing import Annotated

from sidecall import InjectedToolArg, UserToken, tool

_COUNT = itertools.count(1)


@tool
def note(text: str, token: Annotated[str, UserToken("hub")], user: Annotated[str, InjectedToolArg] = "nobody") -> str:
    """Write a note."""
    return f"{text} of {user}, note {next(_COUNT)} at {token.partition('-')[0]}"
