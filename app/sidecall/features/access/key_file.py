"""The file of API keys: one JSON object a line."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import ValidationError

from sidecall.features.access.keys import ApiKey
from sidecall.kernel.core.errors import SidecallError
from sidecall.loading.replacing import hold_alone, replace_text

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
