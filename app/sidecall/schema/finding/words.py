"""Read the words of names, descriptions and questions, in one form each."""

import re

# Within names: `sendMail` has two.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_HISSING = ("sses", "xes", "ches", "shes")


def read_words(text: str) -> list[str]:
    """List the words of a text in lower case, the plural ones of English as if there were one."""
    return [_be_one(word) for word in _WORD.findall(_HUMP.sub(" ", text).casefold())]


def _be_one(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(_HISSING):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
