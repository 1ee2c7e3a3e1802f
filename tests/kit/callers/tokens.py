"""An issuer of tokens, whose keys are served by respx."""

import time
from collections.abc import Mapping
from typing import Any

import httpx
import respx
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

ISSUER = "https://issuer.example.com"
AUDIENCE = "https://tools.example.com"
KEYS_URL = f"{ISSUER}/keys"


class Issuer:
    """Sign tokens, and publish the keys that they are checked with."""

    def __init__(self, router: respx.Router) -> None:
        """Publish a first key."""
        self.keys: dict[str, ECKey | RSAKey] = {}
        self.add("first")
        self.asked = router.get(KEYS_URL).mock(side_effect=lambda _: httpx.Response(200, json=self.published()))

    def add(self, kid: str, key: ECKey | RSAKey | None = None) -> None:
        """Publish one more key."""
        self.keys[kid] = key or ECKey.generate_key("P-256", {"kid": kid, "use": "sig"})

    def published(self) -> Mapping[str, Any]:
        """Return what is published."""
        return KeySet(list(self.keys.values())).as_dict(private=False)

    def sign(
        self, kid: str = "first", header: Mapping[str, Any] | None = None, ends_in: int = 600, **changes: Any
    ) -> str:
        """Sign a token of ann's with these claims, which ends in so many seconds; None leaves one out."""
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": now + ends_in, "iat": now, "scope": "tools:call"}
        kept = {name: value for name, value in (claims | changes).items() if value is not None}
        head = {"alg": "ES256", "kid": kid, **(header or {})}
        return jwt.encode(head, kept, self.keys[kid], algorithms=[head["alg"]])
