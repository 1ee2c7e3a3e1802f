"""Credentials of callers: a key of a file, and a token of an issuer next to the load."""

import json
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from joserfc import jwt
from joserfc.jwk import RSAKey

from sidecall.features.access.api_keys import KeyFile, mint_key

AUDIENCE = "https://tools.example.com"
_SCOPES = ("tools:call",)
_HOUR = 3600


@contextmanager
def introducing() -> Iterator[Mapping[str, str]]:
    """Give the file of keys and its `key`, the `issuer` and its `token`, by the names that rows have for them."""
    signing = RSAKey.generate_key(2048, {"kid": "bench"})
    with tempfile.TemporaryDirectory() as folder, _publishing(signing) as issuer:
        keys_file = Path(folder) / "keys.jsonl"
        key, kept = mint_key("bench", scopes=_SCOPES)
        KeyFile(keys_file).change(lambda _: [kept])
        yield {"keys_file": str(keys_file), "key": key, "issuer": issuer, "token": _sign(signing, issuer)}


def _sign(signing: RSAKey, issuer: str) -> str:
    claims = {"iss": issuer, "aud": AUDIENCE, "sub": "bench", "scope": " ".join(_SCOPES)}
    return jwt.encode({"alg": "RS256", "kid": "bench"}, {**claims, "exp": int(time.time()) + _HOUR}, signing)


@contextmanager
def _publishing(signing: RSAKey) -> Iterator[str]:
    document = json.dumps({"keys": [signing.as_dict(private=False)]}).encode()

    class Publishing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Serve the keys at every path."""
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(document)))
            self.end_headers()
            self.wfile.write(document)

        def log_message(self, format: str, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Publishing)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
