"""Credentials of requests to other services."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sidecall.kernel.core.errors import InvalidToolOption, MissingContext
from sidecall.kernel.core.injection import FromFunction, InjectedToolArg, Supply

_ANY = "*"  # Where no scheme is named.


@dataclass(frozen=True, slots=True)
class ForwardedHeader:
    """Take a credential from a header of the request in which a call came: `ForwardedHeader("X-Pets-Token")`."""

    name: str

    def read(self, supply: Supply) -> str:
        """Return the value of the header.

        Raises:
            MissingContext: The request had no such header.
        """
        value: str | None = supply.tool_context.headers.get(self.name)
        if not value:
            raise MissingContext(f"The tool needs the header `{self.name}` of the request, to hand it on.")
        return value


# All markers of hidden text parameters qualify: `Secret` and those like it.
Credential = InjectedToolArg | ForwardedHeader
Auth = Credential | Mapping[str, Credential] | None


@dataclass(frozen=True, slots=True)
class CredentialPlace:
    """Where a request carries a credential, and in which form."""

    credential: Credential
    where: Literal["header", "query", "cookie"]
    name: str
    form: Literal["plain", "bearer", "basic"] = "plain"

    @property
    def marker(self) -> InjectedToolArg:
        """The marker of the hidden parameter that carries it."""
        given = self.credential
        return FromFunction(given.read) if isinstance(given, ForwardedHeader) else given

    def write(self, value: str) -> str:
        """Return the credential as it is sent."""
        if self.form == "basic":
            return f"Basic {base64.b64encode(value.encode()).decode() if ':' in value else value}"
        return f"Bearer {value}" if self.form == "bearer" else value


def choose_credentials(auth: Auth, said: Any, schemes: Mapping[str, Any]) -> tuple[CredentialPlace, ...]:
    """Choose the credentials of an operation: the first of its alternatives that is complete.

    Args:
        auth: One credential for all schemes, or a mapping by scheme name.
        said: The operation's `security`, or the document's.
        schemes: The document's schemes, by name.
    """
    if auth is None:
        return ()
    known: Mapping[str, Credential] = auth if isinstance(auth, Mapping) else {_ANY: auth}
    if not isinstance(said, list) or not said:
        single = known.get(_ANY)
        # A document with schemes, or an empty list, means that this operation needs no credentials.
        is_open = isinstance(said, list) or bool(schemes)
        return () if single is None or is_open else (CredentialPlace(single, "header", "Authorization", "bearer"),)
    for alternative in said:
        found = [(known.get(name, known.get(_ANY)), schemes.get(name)) for name in alternative or ()]
        places = [_place(credential, scheme) for credential, scheme in found if credential is not None]
        if len(places) == len(found) and (places or len(said) == 1):
            return tuple(place for place in places if place is not None)
    return ()


def _place(credential: Credential, scheme: Any) -> CredentialPlace | None:
    kind = scheme.get("type") if isinstance(scheme, dict) else None
    if kind == "apiKey" and scheme.get("in") in ("header", "query", "cookie"):
        return CredentialPlace(credential, scheme["in"], str(scheme.get("name")))
    if kind == "mutualTLS":
        return None
    is_basic = kind == "http" and str(scheme.get("scheme")).lower() == "basic"
    return CredentialPlace(credential, "header", "Authorization", "basic" if is_basic else "bearer")


def refuse_unknown_schemes(where: str, auth: Auth, schemes: Mapping[str, Any]) -> None:
    """Require the document to have the schemes of these credentials.

    Raises:
        InvalidToolOption: It lacks one.
    """
    unknown = sorted(auth.keys() - schemes.keys()) if isinstance(auth, Mapping) else []
    if unknown:
        known = ", ".join(schemes) or "none"
        raise InvalidToolOption(f"{where} has no security scheme {unknown[0]!r} for `auth`; those of it are: {known}.")


def check_auth(auth: Any) -> Auth:
    """Validate credentials.

    Raises:
        InvalidToolOption: They have another type.
    """
    each = list(auth.values()) if isinstance(auth, Mapping) else [] if auth is None else [auth]
    for credential in each:
        if not isinstance(credential, InjectedToolArg | ForwardedHeader):
            raise InvalidToolOption(
                f"auth is a Secret, a ForwardedHeader, or several by the names of the document's security schemes, "
                f"not {type(credential).__name__}. A secret's text does not belong into the code."
            )
    checked: Auth = auth
    return checked
