"""Report the numbers of a result that JSON could not represent."""

import math

from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.to_json import Lose

# More sentences would only bury the first ones.
_MAX_PLACES = 20


class LostNumbers:
    """Collects a note for each NaN or Infinity that is sent as null, up to a bound."""

    # Most results lose nothing, and making one of these costs them nothing.
    _sentences: tuple[str, ...] = ()
    _surplus = 0

    def of(self, part: str) -> Lose:
        """Return a collector for one part of the answer, such as `artifact`."""

        def lose(number: float, path: tuple[str | int, ...]) -> None:
            if len(self._sentences) < _MAX_PLACES:
                sentence = f"{_name(number)} {_place(part, path)} was sent as null"
                self._sentences = (*self._sentences, sentence)
            else:
                self._surplus += 1

        return lose

    @property
    def notes(self) -> list[str]:
        """Return all notes; the last one counts the places that are not named."""
        if not self._surplus:
            return list(self._sentences)
        more = "number" if self._surplus == 1 else "numbers"
        return [*self._sentences, f"{self._surplus} more {more} that JSON does not have became null"]


def _name(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _place(part: str, path: tuple[str | int, ...]) -> str:
    if not path:
        return f"as the {part}"
    return f"at `{format_path(path)}`" + ("" if part == "content" else f" of the {part}")
