"""What a test supplies in the place of a server's store, secrets, sign-ins and folder of files."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic_core import PydanticSerializationError, to_jsonable_python

from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.kernel.core.context import EVERYTHING, Caller
from sidecall.kernel.ports.user_tokens import SignIn

# Where a person would sign in; a name that leads nowhere (RFC 2606).
_SIGN_IN = "https://sign-in.test/"
SecretValues = Mapping[str, str | SecretStr]


def read_secrets(given: SecretValues | None) -> dict[str, str] | None:
    """Return secrets as plain texts; None where the environment is asked."""
    return None if given is None else {name: _open(value) for name, value in given.items()}


def _open(value: str | SecretStr) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


class GivenSecrets:
    """The secrets of a test: the server's, and the caller's own."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known

    def look_up(self, name: str) -> str | None:
        """Return a secret of the server, or None."""
        return self._known.get(name)

    async def find(self, caller: Caller, names: Collection[str]) -> Mapping[str, str]:  # noqa: ARG002  there is one caller
        """Return the caller's own secrets with these names."""
        return {name: self._known[name] for name in names if name in self._known}


class GivenTokens:
    """The tokens with which tools act for the caller's person; without one, a call waits for the sign-in."""

    def __init__(self, known: SecretValues | None) -> None:
        self.known = read_secrets(known) or {}

    async def find(self, caller: Caller, provider: str) -> str | None:  # noqa: ARG002
        """Return the token for a provider, or None."""
        return self.known.get(provider)

    def invite(self, caller: Caller, provider: str) -> SignIn:  # noqa: ARG002
        """Return where the person would sign in."""
        return SignIn(provider=provider, url=f"{_SIGN_IN}{provider}")

    async def look_again(self, caller: Caller, provider: str) -> None:
        """Do nothing: the test itself goes on with the call."""

    async def drop(self, caller: Caller, provider: str, token: str) -> None:  # noqa: ARG002
        """Forget a token that its provider refuses."""
        if self.known.get(provider) == token:
            del self.known[provider]


def make_workspaces(owner: object) -> Workspaces:
    """Make a folder for the files of conversations, which is removed with its owner."""
    folder = tempfile.mkdtemp(prefix="sidecall-testing-")
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return Workspaces(Path(folder))


def read_caller(given: Caller | str | None, default: Caller) -> Caller:
    """Return the caller of a test; a name alone may call every tool."""
    if given is None:
        return default
    return Caller(given, scopes=EVERYTHING) if isinstance(given, str) else given


def write_json(name: str, given: Any) -> Any:
    """Return a value as it would come over HTTP: models, dataclasses and messages become JSON.

    Raises:
        TypeError: JSON cannot say it, so that no program could send it to a server.
    """
    try:
        return to_jsonable_python(given, inf_nan_mode="null")
    except (PydanticSerializationError, ValueError) as error:
        raise TypeError(f"`{name}` has to be what a program can send as JSON: {error}") from None


def choose_lookup(
    secrets: GivenSecrets | None, environment: Callable[[str], str | None]
) -> Callable[[str], str | None]:
    """Return how a server's secret is found: in what the test gives, or in the environment where it gives nothing."""
    return environment if secrets is None else secrets.look_up
