"""Split texts and queries into words; a query has no syntax."""

import re
import unicodedata

_WORD = re.compile(r"\w+")
# The parts of an identifier such as `readFile2` or `HTTPServer_error`.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# A piece's first words say most about its topic, and the next ones more than the rest.
HEAD, LEAD = 10, 30
#: The weights of the three columns in FTS5's `bm25`; below 1, repeated words count more.
WORTH = "1.2, 0.9, 0.5"
# The maximum number of query words that are searched, without stop words unless there are no others.
MOST_WORDS = 64
_SAY_NOTHING = frozenset("a an and for in is of or the to".split())


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; identifiers are split into their parts."""
    words: list[str] = []
    for word in _WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        if "_" not in word and (word.islower() or word.istitle() or word.isupper() or not word.isascii()):
            words.append(word.lower())
        elif word.isascii():
            words += [part.lower() for part in _PART.findall(word)]
        else:
            words += [part.lower() for part in word.split("_") if part]
    return words


def write_piece_words(title: str, text: str, mark: str = "") -> tuple[str, str, str]:
    """Return the words of a piece for the index: the first ones with its title, the following, and the rest.

    Args:
        title: The title, such as the name of a file.
        text: The piece.
        mark: The prefix of each word, which separates owners.
    """
    words = split_words(text)
    head = [*split_words(title), *words[:HEAD]]
    return _join(head, mark), _join(words[HEAD:LEAD], mark), _join(words[LEAD:], mark)


def strip_ending(name: str) -> str:
    """Return a file name without the extension."""
    stem, dot, ending = name.rpartition(".")
    return stem if dot and stem and "/" not in ending else name


def _join(words: list[str], mark: str) -> str:
    return mark + f" {mark}".join(words) if words else ""


def list_query_words(query: str) -> list[str]:
    """Return the words of a query, each once, as many as are looked for."""
    words = list(dict.fromkeys(split_words(query.encode("utf-8", "ignore").decode())))
    return ([word for word in words if word not in _SAY_NOTHING] or words)[:MOST_WORDS]


def write_words(query: str, mark: str = "") -> str:
    """Write the words of a query as FTS5 looks for any of them."""
    return " OR ".join(f'"{mark}{word}"' for word in list_query_words(query))
