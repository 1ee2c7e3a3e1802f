"""Authenticate callers by JWTs that an issuer made for this server."""

import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from starlette.types import Scope

from sidecall.feature import Start
from sidecall.features.access.auth_methods import REFUSE, read_bearer
from sidecall.features.access.jwks import IssuerKeys
from sidecall.http.authentication import BadCredential
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.store import DEFAULT_TENANT

logger = logging.getLogger("sidecall")

# Allowed clock difference between issuer and server, in seconds.
_LEEWAY = 30
# Seconds after which a valid token is verified again, since its key may have been withdrawn.
_GOOD_FOR = 60.0
_REMEMBERED = 1024
_LONGEST = 256
_HEADER_BYTES = 4096


@dataclass(frozen=True, slots=True)
class TokenRules:
    """Which tokens are accepted, and the claims that are read; without `tenant` all callers share one."""

    issuer: str
    audience: Sequence[str]
    algorithms: Sequence[str]
    scopes: str = "scope"
    tenant: str | None = None


class Tokens:
    """Take the token of a request from `Authorization: Bearer …`."""

    def __init__(self, rules: TokenRules, keys: IssuerKeys, clock: Callable[[], float] = time.time) -> None:
        """Take the rules; `clock` returns seconds since 1970."""
        self._rules = rules
        self._keys = keys
        self._clock = clock
        self._registry = jws.JWSRegistry(algorithms=list(rules.algorithms), strict_check_header=False)
        self._registry.max_header_length = _HEADER_BYTES
        self._claims = jwt.JWTClaimsRegistry(
            now=lambda: int(clock()),
            leeway=_LEEWAY,
            iss={"essential": True, "value": rules.issuer},
            aud={"essential": True, "values": list(rules.audience)},
            sub={"essential": True},
            exp={"essential": True},
        )
        self._known: dict[bytes, tuple[Caller, float]] = {}

    def recognize(self, scope: Scope) -> Caller | Awaitable[Caller] | None:
        """Return the caller of a token, directly if it is cached; None without a token.

        Raises:
            BadCredential: There are several.
        """
        token = read_bearer(scope)
        if token is None:
            return None
        digest = hashlib.sha256(token.encode("latin-1")).digest()
        caller, until = self._known.get(digest, (None, 0.0))
        return caller if caller is not None and self._clock() < until else self._verify(token, digest)

    async def _verify(self, token: str, digest: bytes) -> Caller:
        """Verify a token.

        Raises:
            BadCredential: The token is not valid.
            IssuerUnreachable: The issuer's keys cannot be fetched.
        """
        keys = await self._keys.get()
        try:
            try:
                claims = self._read(token, keys)
            except InvalidKeyIdError:
                newer = await self._keys.get_newer(keys)
                if newer is None:
                    raise
                claims = self._read(token, newer)
            caller = self._name(claims)
        except (JoseError, ValueError, LookupError, TypeError, OverflowError) as error:
            self._known.pop(digest, None)
            logger.debug("a token was refused: %r", error)
            raise BadCredential(REFUSE) from None
        self._keep(digest, caller, float(claims["exp"]) + _LEEWAY)
        return caller

    def _read(self, token: str, keys: KeySet) -> Mapping[str, Any]:
        read = jwt.decode(
            token.encode("latin-1"), keys, algorithms=list(self._rules.algorithms), registry=self._registry
        )
        self._claims.validate(read.claims)
        return read.claims

    def _name(self, claims: Mapping[str, Any]) -> Caller:
        rules = self._rules
        tenant = DEFAULT_TENANT if rules.tenant is None else claims[rules.tenant]
        scopes = claims.get(rules.scopes, "")
        said = scopes.split(" ") if isinstance(scopes, str) else list(scopes)
        return Caller(
            _require_name(claims["sub"]),
            _require_name(tenant),
            frozenset(_require_name(scope) for scope in said if scope),
        )

    def _keep(self, digest: bytes, caller: Caller, end: float) -> None:
        self._known[digest] = caller, min(end, self._clock() + _GOOD_FOR)
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]


def _require_name(value: Any) -> str:
    """Return a claim that is a valid name.

    Raises:
        ValueError: It is not one.
    """
    if not isinstance(value, str) or not value or len(value) > _LONGEST or not value.isprintable():
        raise ValueError(f"no name: {value!r:.100}")
    return value


def make_tokens(start: Start) -> Tokens:
    """Make what takes the tokens of a server's issuer."""
    settings = start.server
    rules = TokenRules(
        settings.jwt_issuer,
        settings.jwt_audience,
        settings.jwt_algorithms,
        scopes=settings.jwt_scopes_claim,
        tenant=settings.jwt_tenant_claim,
    )
    return Tokens(rules, IssuerKeys(rules.issuer, settings.jwt_keys_url, proxy=settings.outgoing_proxy))
