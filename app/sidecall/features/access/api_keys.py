"""Authenticate programs by API keys."""

import hmac
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping

from starlette.types import Scope

from sidecall.features.access.credential_cache import KEY, LOOK
from sidecall.features.access.key_file import InvalidKeyFile, KeyFile
from sidecall.features.access.keys import PREFIX, ApiKey, digest_key
from sidecall.features.access.methods import REFUSE, BadCredential, read_bearer, values_of
from sidecall.kernel.core.context import Caller

logger = logging.getLogger("sidecall")

# Compared with an unknown key, so that it takes as much work as a known one.
_NOBODY = "0" * 64
# Time of change, inode and size of the file.
_State = tuple[int, int, int] | None


class KeyRing:
    """The keys of a file by their hashes, read again when the file has changed."""

    def __init__(
        self,
        file: KeyFile,
        clock: Callable[[], float] = time.monotonic,
        note: Callable[[Iterable[ApiKey]], None] | None = None,
    ) -> None:
        """Read the file; `note` is called with the keys now, and later with those that were added or changed.

        Raises:
            InvalidKeyFile: The file holds no keys.
        """
        self._file = file
        self._clock = clock
        self._note = note
        self._state = self._look()
        self._keys: Mapping[str, tuple[ApiKey, Caller]] = {}
        self._keys = self._read()
        self._next = self._clock() + LOOK

    def __len__(self) -> int:
        return sum(key.is_valid() for key, _ in self._keys.values())

    def find(self, text: str) -> Caller | None:
        """Return the owner of a key; None where it is not valid, for any reason."""
        if self._clock() >= self._next:
            self._refresh()
        digest = digest_key(text)
        known = self._keys.get(digest)
        is_same = hmac.compare_digest(digest, _NOBODY if known is None else known[0].sha256)
        return known[1] if known is not None and is_same and known[0].is_valid() else None

    def _refresh(self) -> None:
        self._next = self._clock() + LOOK
        state = self._look()
        if state == self._state:
            return
        self._state, before = state, len(self)
        try:
            self._keys = self._read()
        except InvalidKeyFile as error:
            # The file may be read in the middle of an edit by hand.
            logger.error("the keys that were read before stay valid: %s", error.message)
        else:
            self._log_change(before)

    def _log_change(self, before: int) -> None:
        if before and not len(self):
            logger.warning(
                "no key in %s is valid any more, so nobody can call with one: put the file back (SIDECALL_KEYS_FILE), "
                "or make a key with `sidecall keys new NAME`; either is taken without a restart",
                self._file.path,
            )
        else:
            logger.info("keys were read again from %s: %d are valid", self._file.path, len(self))

    def _look(self) -> _State:
        try:
            found = os.stat(self._file.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _read(self) -> Mapping[str, tuple[ApiKey, Caller]]:
        read = {key.sha256: key for key in self._file.read()}
        fresh = [key for digest, key in read.items() if digest not in self._keys or self._keys[digest][0] is not key]
        if self._note is not None:
            self._note(fresh)
        known = {key.sha256: (key, key.caller) for key in fresh}
        return {digest: known.get(digest) or self._keys[digest] for digest in read}


class ApiKeys:
    """Take the key of a request from `Authorization: Bearer …` or `X-API-Key`."""

    def __init__(self, ring: KeyRing, *, is_alone: bool) -> None:
        """Take the keys.

        Args:
            ring: The keys.
            is_alone: Whether every bearer must be a key; otherwise only what looks like one is read.
        """
        self._ring = ring
        self._is_alone = is_alone

    def recognize(self, scope: Scope) -> Caller | None:
        """Return the owner of the key in a request; None where there is no key.

        Raises:
            BadCredential: The key is unknown, or there are several.
        """
        sent = [value.decode("latin-1") for value in values_of(scope, KEY)]
        bearer = read_bearer(scope)
        if bearer is not None and (self._is_alone or bearer.startswith(PREFIX)):
            sent.append(bearer)
        if not sent:
            return None
        found = self._ring.find(sent[0])
        if found is None or len(sent) > 1:
            raise BadCredential(REFUSE)
        return found
