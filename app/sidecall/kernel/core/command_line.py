"""A program's command line with placeholders for a call's arguments."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.json_data.to_json import to_text

_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")
# What is left of a word without its places, and looks like one in a format string.
_ODD_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)[!:.\[][^{}]*\}")
_INPUT = "<"
# Linux takes 131,072 bytes for one word with its end, and bubblewrap 9,000 words with its own.
_MOST_BYTES, _MOST_WORDS = 131_071, 8_000
# A quarter of the usual stack of 8 MiB, less what each word's place takes and the rest of the command line.
_MOST_BYTES_IN_ALL = 1_900_000


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The words of a command, each a separate argument: there is no shell.

    `{name}` is replaced by the call's argument. A word that is only a placeholder becomes a word for each item of a
    list, and is dropped if the argument is None. A last word `<{name}` is the program's standard input; without it that
    is a JSON object of all arguments that no word names. `scripts` are the contents of the author's files that words
    name.
    """

    words: tuple[str, ...]
    scripts: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """The named arguments."""
        return frozenset(name for word in self.words for name in _PLACE.findall(word) if name)

    def fill(self, values: Mapping[str, Any]) -> list[str]:
        """Return the words with placeholders filled from the arguments.

        Raises:
            ToolException: One holds a zero byte, or they are too long, so that no program can be given them.
        """
        words = [made for word in self._own_words for made in _fill_word(word, values)]
        _require_passable(words)
        return words

    def write_input(self, values: Mapping[str, Any]) -> bytes:
        """Return the program's standard input, from the values that the model sees."""
        if self._own_words != self.words:
            return _as_text(values[next(iter(_PLACE.findall(self.words[-1])))]).encode(errors="replace")
        rest = {name: value for name, value in values.items() if name not in self.names}
        return to_text(rest).encode() if rest else b""

    def find_misplaced(self, known: Collection[str]) -> str | None:
        """Return why a word that looks like a placeholder is invalid; None if all are valid."""
        for number, word in enumerate(self.words):
            if word.startswith(_INPUT) and _PLACE.fullmatch(word[1:]) and number < len(self.words) - 1:
                return f"`{word}` is what the program reads, and has to be the last word."
            odd = _ODD_PLACE.search(_PLACE.sub("", word))
            if odd is not None and odd[1] in known:
                return f"`{odd[0]}` is no place: a place is a parameter's name in braces, and nothing else."
        return None

    @property
    def _own_words(self) -> tuple[str, ...]:
        last = self.words[-1]
        is_input = last.startswith(_INPUT) and _PLACE.fullmatch(last[1:]) is not None
        return self.words[:-1] if is_input else self.words


def _require_passable(words: Sequence[str]) -> None:
    sizes = [len(word.encode(errors="replace")) for word in words]
    if any("\0" in word for word in words):
        raise ToolException("An argument holds a zero byte, which no program can be given.")
    if max(sizes, default=0) > _MOST_BYTES:
        raise ToolException(
            f"An argument is too long: it has {max(sizes)} bytes, of {_MOST_BYTES} at most. Send less in it."
        )
    if len(words) > _MOST_WORDS:
        raise ToolException(f"The arguments are too many: {len(words)} words, of {_MOST_WORDS} at most. Send fewer.")
    if sum(sizes) > _MOST_BYTES_IN_ALL:
        raise ToolException(
            f"The arguments are too long: they have {sum(sizes)} bytes, of {_MOST_BYTES_IN_ALL} at most. Send less."
        )


def _fill_word(word: str, values: Mapping[str, Any]) -> Iterator[str]:
    whole = _PLACE.fullmatch(word)
    if whole is not None and whole[1] and isinstance(values[whole[1]], (list, tuple)):
        yield from map(_as_text, values[whole[1]])
    elif not any(name and values[name] is None for name in _PLACE.findall(word)):
        yield _PLACE.sub(lambda place: _as_text(values[place[1]]) if place[1] else place[0][0], word)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else to_text(value)
