"""Authenticate programs by API keys."""

import hashlib
import hmac
import logging
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.types import Scope

from sidecall.features.access.auth_methods import REFUSE, read_bearer, values_of
from sidecall.http.authentication import KEY, LOOK, BadCredential
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.ports.store import DEFAULT_TENANT
from sidecall.loading.atomic_write import hold_alone, replace_text

# A prefix by which people and secret scanners recognize a key.
PREFIX = "sidecall_"

_BYTES = 32

# Names of people, programs and tenants: printable, like a gateway's, and readable in lists.
Name = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=256, pattern=r"^[^\x00-\x20\x7f-\xa0](?:[^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0])?$"
    ),
]

ScopeText = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[\x21\x23-\x5b\x5d-\x7e]+$")]


class ApiKey(BaseModel, defer_build=True):
    """What is kept of a key: whose it is, and a hash, by which it is known and which does not lead back to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    subject: Name
    tenant: Name = DEFAULT_TENANT
    scopes: tuple[ScopeText, ...] = ()
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    revoked_at: AwareDatetime | None = None

    @property
    def caller(self) -> Caller:
        """The caller that this key authenticates."""
        return Caller(self.subject, self.tenant, frozenset(self.scopes))

    def is_valid(self, now: float | None = None) -> bool:
        """Return whether it is valid; `now` is in seconds since 1970."""
        if self.revoked_at is not None:
            return False
        return self.expires_at is None or self.expires_at.timestamp() > (time.time() if now is None else now)

    def revoke(self) -> Self:
        """Return a revoked copy of the key."""
        return self if self.revoked_at else self.model_copy(update={"revoked_at": datetime.now(UTC)})


def mint_key(
    subject: str, tenant: str = DEFAULT_TENANT, scopes: tuple[str, ...] = (), expires_at: datetime | None = None
) -> tuple[str, ApiKey]:
    """Return a new random key, and the record that is stored of it.

    Raises:
        ValidationError: A name has characters that are not allowed.
    """
    text = PREFIX + secrets.token_urlsafe(_BYTES)
    kept = ApiKey(
        id=f"key_{secrets.token_hex(4)}",
        sha256=digest_key(text),
        subject=subject,
        tenant=tenant,
        scopes=tuple(sorted(set(scopes))),
        created_at=datetime.now(UTC).replace(microsecond=0),
        expires_at=expires_at,
    )
    return text, kept


def digest_key(text: str) -> str:
    """Return the hash of a key; a fast hash suffices for 256 random bits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_NAME_ANOTHER = "Let the server read it, or name another file of keys (SIDECALL_KEYS_FILE, or --file)."

_MEND = "Take that line out of it, or name another file of keys (SIDECALL_KEYS_FILE, or --file)."


class InvalidKeyFile(SidecallError):
    """The file of keys cannot be used."""


class KeyFile:
    """A file of keys; changes replace the file atomically, so readers see the old or the new one in full."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # By line, since most lines stay the same when the file is read again.
        self._known: dict[str, ApiKey] = {}

    def read(self) -> list[ApiKey]:
        """Read the keys, revoked ones included; none if there is no file.

        Raises:
            InvalidKeyFile: It cannot be read, or a line is no key.
        """
        try:
            lines = self.path.read_text(encoding="utf-8-sig").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
            raise InvalidKeyFile(f"{self.path} cannot be read: {reason}. {_NAME_ANOTHER}") from None
        written = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        keys = [self._known.get(line) or self._read(number, line) for number, line in written]
        twice = [key_id for key_id, count in Counter(key.id for key in keys).items() if count > 1]
        if twice:
            raise InvalidKeyFile(f"{self.path} has several keys of the id {', '.join(sorted(twice))}. {_MEND}")
        self._known = {line: key for (_, line), key in zip(written, keys, strict=True)}
        return keys

    def _read(self, number: int, line: str) -> ApiKey:
        try:
            return ApiKey.model_validate_json(line)
        except ValidationError as error:
            # The content is left out of the message: it may be a key.
            wrong = "; ".join(f"{'.'.join(map(str, item['loc'])) or 'line'}: {item['msg']}" for item in error.errors())
            raise InvalidKeyFile(
                f"{self.path}, line {number}, is no key as `sidecall keys new` writes them: {wrong}. {_MEND}"
            ) from None

    def change(self, change: Callable[[list[ApiKey]], Sequence[ApiKey]]) -> None:
        """Replace the keys atomically, under a lock.

        Raises:
            InvalidKeyFile: The file cannot be read.
            OSError: The file cannot be written.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with hold_alone(self.path):
            text = "".join(f"{key.model_dump_json(exclude_none=True)}\n" for key in change(self.read()))
            replace_text(self.path, text, self.path.stat().st_mode & 0o777 if self.path.exists() else 0o600)


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
