"""The words this code base keeps: verbs for functions, plain docstrings."""

import re

from tests.kit.sources import SOURCES, TESTS, name_of, outline

# Participles that do not end in -ed; those that are verbs too (read, put, set, cut, split) are left out.
IRREGULAR = frozenset(
    "begun bound built bought brought broken caught chosen done drawn driven fallen felt found frozen given gone grown"
    " heard held hidden kept known laid led left lent lost made meant met paid said seen sent shown shut sold spent"
    " spoken stood struck sworn taken taught thought thrown told torn understood unheard unseen untold woken worn"
    " written".split()
)
# Verbs and nouns that only look like participles.
OTHERS = frozenset(
    "anything bed bleed breed docstring embed everything exceed feed heading heed mapping meaning need nothing"
    " proceed reading seed setting shed something speed string succeed warning weed".split()
)
OPENING = re.compile(r"(Say|Says|Tell|Tells|Hold|Holds)\b")
KIT = [path for path in TESTS if {"kit", "trials"} & set(path.parts)]


def is_participle(name: str, makes_context: bool) -> bool:
    """Return whether a function's name says what was done to something, or is being done, and not what it does.

    A context manager may be called by what goes on inside it, as `contextlib.closing` is.
    """
    word = name.strip("_")
    if not word.isalpha() or word in OTHERS:
        return False
    return word in IRREGULAR or word.endswith("ed") or (word.endswith("ing") and len(word) > 5 and not makes_context)


def test_participles_are_told_from_verbs() -> None:
    """By their ends, and by lists of what does not follow the rule."""
    participles = ["_joined", "answered", "said", "_kept", "running"]
    verbs = ["_join", "read", "need", "succeed", "_left_over", "string", "_docstring"]

    assert [name for name in participles if not is_participle(name, makes_context=False)] == []
    assert [name for name in verbs if is_participle(name, makes_context=False)] == []
    assert not is_participle("serving", makes_context=True)


def test_functions_are_verbs() -> None:
    """`_join` does something, `_joined` only says what came of it."""
    functions = [
        (name_of(path), name) for path in SOURCES for name, context in outline(path).functions.items()
        if is_participle(name, context)
    ]  # fmt: skip

    assert functions == []


def test_docstrings_begin_plainly() -> None:
    """What would be "Say whether" or "Hold" elsewhere is "Return whether", or what the thing is."""
    openings = [
        (name_of(path), text.partition("\n")[0]) for path in [*SOURCES, *KIT] for text in outline(path).docstrings
        if OPENING.match(text)
    ]  # fmt: skip

    assert openings == []
