"""The authorization-code flow, from a link to the token.

The threats are those of RFC 9700. Links, and the state that passes through the provider, are sealed, so they cannot be
forged. A state is valid once, and only in the browser that opened the link (by a cookie). So an attacker's code never
reaches a caller, and a person who is lured into another one's flow never hands over their token.
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
from sidecall.features.credentials.oauth.provider_client import OAuthProvider, make_verifier
from sidecall.features.credentials.oauth.settings import CALLBACK, START, SignInUrls
from sidecall.features.credentials.oauth.token_store import StoredToken, TokenStore
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.ports.secrets import RESERVED, Seal, SealedSecret, SecretUnreadable
from sidecall.kernel.ports.user_tokens import SignIn, TokenUnavailable

# Seconds to finish a sign-in after opening the link.
_PATIENCE = 900.0
_LONGEST = 4096


class LinkInvalid(SidecallError):
    """A link, or what a provider has sent a person back with, is forged, too old, or was used before."""


class SignInDenied(SidecallError):
    """The person did not allow it."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """The content of a link: whose person is asked, and the provider."""

    caller: Caller
    provider: str


class AuthorizationFlows:
    """Lead persons to providers, and back with a token."""

    def __init__(
        self,
        providers: Mapping[str, OAuthProvider],
        store: TokenStore,
        seal: Seal,
        auditor: Auditor,
        urls: SignInUrls,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the parts.

        Args:
            providers: The providers, by name.
            store: The store of tokens.
            seal: Seals links and states.
            auditor: Records what persons allowed.
            urls: The addresses of this server.
            clock: Seconds since 1970.
        """
        self._providers = providers
        self._store = store
        self._seal = seal
        self._auditor = auditor
        self.public_url = urls.public_url
        self._link_ttl = urls.link_ttl
        self._clock = clock

    @property
    def _redirect_uri(self) -> str:
        return self.public_url + CALLBACK

    def invite(self, caller: Caller, provider: str) -> SignIn:
        """Make the link for a caller's person."""
        link = self._write("link", {**_name(caller), "provider": provider}, self._link_ttl)
        return SignIn(provider=provider, url=f"{self.public_url}{START}?link={link}")

    def read_link(self, link: str) -> Invitation:
        """Return the content of a link.

        Raises:
            LinkInvalid: It is not from this server, or too old.
        """
        return self._read_invitation(self._read("link", link))

    async def begin(self, invitation: Invitation, browser: str) -> str:
        """Start a flow, and return the provider's URL.

        Args:
            invitation: The content of the link.
            browser: A secret of this browser.

        Raises:
            TokenUnavailable: The provider's endpoint is unknown.
            TooManySecrets: There is no room for the flow.
        """
        caller, provider = invitation.caller, self._providers[invitation.provider]
        flow_id, verifier = secrets.token_urlsafe(24), make_verifier()
        state = self._write("state", {**_name(caller), "provider": provider.name, "id": flow_id}, _PATIENCE)
        address = await provider.write_address(self._redirect_uri, state, verifier)
        said = {"id": flow_id, "verifier": verifier, "browser": _hash(browser)}
        await self._store.put_flow(caller, provider.name, said)
        return address

    def read_state(self, state: str) -> Invitation:
        """Return the flow that a returned state belongs to.

        Raises:
            LinkInvalid: The state is not from this server, or too old.
        """
        return self._read_invitation(self._read("state", state))

    async def finish(self, came: Mapping[str, str], browser: str) -> None:
        """Exchange and store a person's token, from the parameters of the provider's redirect.

        Raises:
            LinkInvalid: It does not belong to a flow of this browser, or was used before.
            SignInDenied: The person did not allow it.
            TokenUnavailable: The provider does not give a token.
            TooManySecrets: There is no room for the token.
        """
        said = self._read("state", came.get("state", ""))
        invitation = self._read_invitation(said)
        caller, provider = invitation.caller, self._providers[invitation.provider]
        known = {"id": said["id"], "browser": _hash(browser)}
        begun = await self._store.take_flow(caller, provider.name, known)
        if begun is None:
            raise LinkInvalid
        await self._check_issuer(provider, came.get("iss"))
        if "error" in came:
            await self._note_error(invitation, came["error"])
        grant = await provider.exchange(came.get("code", ""), begun["verifier"], self._redirect_uri)
        await self._store.put(caller, provider.name, StoredToken.of(grant, self._clock()))
        await self._auditor.record("token_granted", caller, provider.name, {})

    async def _check_issuer(self, provider: OAuthProvider, issuer: str | None) -> None:
        """Require the answer to name the asked provider (RFC 9207), so that none gets another one's code."""
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
        """Seal a value for this purpose, until then."""
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
