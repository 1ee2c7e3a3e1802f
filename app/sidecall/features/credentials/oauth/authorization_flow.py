"""Lead a person to a provider and back: one round of signing in, from the link to the token.

What an attacker might do is that of RFC 9700. A link, and the state that goes through the provider, are sealed: nobody
makes one. A state is good once, for one browser: the one in which the link was opened, by a cookie. So neither does a
code that an attacker got come to a caller, nor does a person who is led to the provider by another one's round give
their token to them.
"""

import base64
import binascii
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sidecall.features.audit.auditor import Auditor
from sidecall.features.credentials.oauth.asking import OAuthProvider, make_verifier
from sidecall.features.credentials.oauth.paths import CALLBACK, START
from sidecall.features.credentials.oauth.stored import StoredToken, TokenStore
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.ports.secrets import RESERVED, Seal, SealedSecret, SecretUnreadable
from sidecall.kernel.ports.user_tokens import SignIn, TokenUnavailable

# Seconds that a person has for it, from opening the link.
_PATIENCE = 900.0
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class WayBack:
    """Where browsers reach this server, for how many seconds a link there is good, and what leads out."""

    public_url: str
    link_ttl: float
    proxy: str | None = None


class LinkInvalid(SidecallError):
    """A link, or what a provider has sent a person back with, is forged, too old, or was used before."""


class SignInDenied(SidecallError):
    """The person did not allow it."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a link says: whose person is asked, and at whom they sign in."""

    caller: Caller
    provider: str


class SignInRounds:
    """Lead persons to providers, and back with a token."""

    def __init__(
        self,
        providers: Mapping[str, OAuthProvider],
        drawer: TokenStore,
        seal: Seal,
        auditor: Auditor,
        way: WayBack,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Join what it takes.

        Args:
            providers: Whom persons sign in at, by name.
            drawer: Where tokens are kept.
            seal: Seals what goes through browsers.
            auditor: Who writes down what persons allowed.
            way: Where persons come back.
            clock: Seconds since 1970.
        """
        self._providers = providers
        self._drawer = drawer
        self._seal = seal
        self._auditor = auditor
        self.public_url = way.public_url
        self._link_ttl = way.link_ttl
        self._clock = clock

    @property
    def _redirect_uri(self) -> str:
        return self.public_url + CALLBACK

    def invite(self, caller: Caller, provider: str) -> SignIn:
        """Make the link for a caller's person."""
        link = self._write("link", {**_name(caller), "provider": provider}, self._link_ttl)
        return SignIn(provider=provider, url=f"{self.public_url}{START}?link={link}")

    def read_link(self, link: str) -> Invitation:
        """Return what a link says.

        Raises:
            LinkInvalid: It is none of this server's, or too old.
        """
        return self._read_invitation(self._read("link", link))

    async def begin(self, invitation: Invitation, browser: str) -> str:
        """Begin a round, and return where the person goes.

        Args:
            invitation: Whose it is.
            browser: What only this browser knows.

        Raises:
            TokenUnavailable: The provider does not say where.
            TooManySecrets: There is no room for it.
        """
        caller, provider = invitation.caller, self._providers[invitation.provider]
        round_id, verifier = secrets.token_urlsafe(24), make_verifier()
        state = self._write("state", {**_name(caller), "provider": provider.name, "id": round_id}, _PATIENCE)
        address = await provider.write_address(self._redirect_uri, state, verifier)
        said = {"id": round_id, "verifier": verifier, "browser": _hash(browser)}
        await self._drawer.put_round(caller, provider.name, said)
        return address

    def read_state(self, state: str) -> Invitation:
        """Return whose round it is that a person comes back from.

        Raises:
            LinkInvalid: The state is none of this server's, or too old.
        """
        return self._read_invitation(self._read("state", state))

    async def finish(self, came: Mapping[str, str], browser: str) -> None:
        """Take a person's token, with what the provider has sent them back with.

        Raises:
            LinkInvalid: It is no answer to a round that this browser has begun, or was used before.
            SignInDenied: The person did not allow it.
            TokenUnavailable: The provider does not give a token.
            TooManySecrets: There is no room for it.
        """
        said = self._read("state", came.get("state", ""))
        invitation = self._read_invitation(said)
        caller, provider = invitation.caller, self._providers[invitation.provider]
        known = {"id": said["id"], "browser": _hash(browser)}
        begun = await self._drawer.take_round(caller, provider.name, known)
        if begun is None:
            raise LinkInvalid
        await self._check_issuer(provider, came.get("iss"))
        if "error" in came:
            await self._note_error(invitation, came["error"])
        grant = await provider.exchange(came.get("code", ""), begun["verifier"], self._redirect_uri)
        await self._drawer.put(caller, provider.name, StoredToken.of(grant, self._clock()))
        await self._auditor.record("token_granted", caller, provider.name, {})

    async def _check_issuer(self, provider: OAuthProvider, issuer: str | None) -> None:
        """Look whether it is the provider who answers (RFC 9207), so that none gets the code of another."""
        endpoints = await provider.endpoints.get()
        if issuer is None and not endpoints.says_issuer:
            return
        if endpoints.issuer is not None and issuer != endpoints.issuer:
            raise LinkInvalid

    async def _note_error(self, invitation: Invitation, error: str) -> None:
        if error == "access_denied":
            await self._auditor.record("token_denied", invitation.caller, invitation.provider, {})
            raise SignInDenied
        raise TokenUnavailable(f"{invitation.provider}: it sends a person back with {error[:64]!a}.")

    def _read_invitation(self, said: Mapping[str, str]) -> Invitation:
        if said["provider"] not in self._providers:
            raise LinkInvalid
        return Invitation(Caller(said["subject"], said["tenant"]), said["provider"])

    def _write(self, purpose: str, said: Mapping[str, str], ttl: float) -> str:
        """Seal what goes through browsers: for this purpose, and until then."""
        text = json.dumps({**said, "until": self._clock() + ttl})
        sealed = self._seal.seal("", "", f"oauth{RESERVED}{purpose}", text)
        return f"{sealed.key_id}.{base64.urlsafe_b64encode(sealed.sealed).decode().rstrip('=')}"

    def _read(self, purpose: str, text: str) -> Mapping[str, str]:
        key_id, _, code = text.partition(".")
        try:
            if len(text) > _LONGEST:
                raise LinkInvalid
            octets = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
            sealed = SealedSecret("", "", f"oauth{RESERVED}{purpose}", key_id, octets)
            said = json.loads(self._seal.unseal(sealed))
        except (SecretUnreadable, binascii.Error, ValueError):
            raise LinkInvalid from None
        if self._clock() > said["until"]:
            raise LinkInvalid
        found: Mapping[str, str] = said
        return found


def _name(caller: Caller) -> dict[str, str]:
    return {"subject": caller.subject, "tenant": caller.tenant}


def _hash(browser: str) -> str:
    return hashlib.sha256(browser.encode("utf-8", "surrogatepass")).hexdigest()
