"""What a server knows its callers by."""

from collections.abc import Collection
from dataclasses import dataclass

from sidecall.auth.middleware import Authenticator


@dataclass(frozen=True, slots=True)
class Access:
    """Who knows the callers, and whether they have to prove who they are.

    `hidden` are the headers that prove it, which no tool sees.
    """

    authenticator: Authenticator
    is_proved: bool
    hidden: Collection[bytes] = ()
