"""Sign messages as Standard Webhooks defines, so that receivers can verify the sender."""

import base64
import hashlib
import hmac
from collections.abc import Sequence

_PREFIX = "whsec_"


def read_key(secret: str) -> bytes:
    """Decode the key of a secret such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`."""
    return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)


def sign(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Make the headers of a message, with a signature by each key; a receiver needs one of them."""
    signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    signatures = (base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
