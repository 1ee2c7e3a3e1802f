"""Encryption keys for callers' secrets in tests."""

import base64

SECRETS_KEY = base64.b64encode(bytes(range(32))).decode()
NEWER_KEY = base64.b64encode(bytes(range(100, 132))).decode()
