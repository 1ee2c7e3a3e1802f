"""Find tools by words (BM25), or by a regular expression."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from pydantic_core import SchemaError, SchemaValidator, core_schema

from sidecall.kernel.core.tool import CompiledTool
from sidecall.lazy_imports import Later

# Nearly a megabyte, for the first search by words.
_stemming = Later("Stemmer")

# Maximum characters of a question; longer ones are not meant for tools.
MOST_OF_QUERY = 200

# The constants of BM25: saturation of word counts, and the penalty of long texts.
_SATURATION, _LENGTH = 1.2, 0.75
# Weights of a word in the name, and in tags or the name of a namespace.
_IN_NAME, _IN_TAGS = 3.0, 2.0
# An unknown word matches words that begin with it: at least so many letters, at most so many words.
_SHORTEST, _MOST_MEANT = 3, 20
# Stop words of a question; few tools are not enough to derive them.
_SAYING_NOTHING = frozenset(
    "a an and are at by can do for from i in is it me my of on or that the this to want with".split()
)


class BadPattern(ValueError):
    """It is no regular expression that is taken here."""


class ToolIndex:
    """The search index of tools: names, descriptions, tags and parameters; built at the first search.

    Words match in all their English forms. Declarations of provider-run tools are left out.
    """

    def __init__(self, tools: Iterable[CompiledTool] = ()) -> None:
        self._tools = [tool for tool in tools if tool.declaration is None]

    @cached_property
    def _words(self) -> "_Words":
        return _Words(self._tools)

    @cached_property
    def _texts(self) -> list[tuple[str, ...]]:
        return [tuple(_list_texts(tool)) for tool in self._tools]

    def rank(self, query: str) -> list[str]:
        """List the names of tools that have words of a query, the best one first."""
        scores: dict[int, float] = defaultdict(float)
        for stem in self._words.find_stems_of(it for it in read_words(query) if it not in _SAYING_NOTHING):
            for number, weight in self._words.postings[stem]:
                scores[number] += weight
        return [self._tools[number].name for number in sorted(scores, key=lambda it: (-scores[it], it))]

    def match(self, pattern: str) -> list[str]:
        """List the names of tools that a regular expression matches, in their order.

        The syntax is Rust's, linear in the text, so without back-references and look-around.

        Raises:
            BadPattern: It is invalid, or has counted repetitions, which may take long to compile.
        """
        if "{" in pattern.replace("\\{", "").replace("\\p{", ""):
            raise BadPattern("Counted repetitions, such as a{3}, are not taken.")
        schema = core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")
        try:
            find = SchemaValidator(schema).isinstance_python
        except SchemaError:
            raise BadPattern("This is no regular expression, or one that looks around or back.") from None
        found = zip(self._tools, self._texts, strict=True)
        return [tool.name for tool, texts in found if any(find(text) for text in texts)]


class _Words:
    """The words of tools: their stems, and the weight of each stem for each tool."""

    def __init__(self, tools: Iterable[CompiledTool]) -> None:
        counts = [_count(tool) for tool in tools]
        self._stems = find_stems(dict.fromkeys(word for each in counts for word in each))
        self.postings = _weigh([self._join_forms(each) for each in counts])

    def _join_forms(self, counts: dict[str, float]) -> dict[str, float]:
        joined: dict[str, float] = defaultdict(float)
        for word, count in counts.items():
            joined[self._stems[word]] += count
        return joined

    def find_stems_of(self, words: Iterable[str]) -> list[str]:
        """List the stems that match words of a query, each once."""
        stems = find_stems(words)
        return list(dict.fromkeys(meant for word, stem in stems.items() for meant in self._find_meant(word, stem)))

    def _find_meant(self, word: str, stem: str) -> list[str]:
        if stem in self.postings:
            return [stem]
        if len(word) < _SHORTEST:
            return []
        return [self._stems[known] for known in self._stems if known.startswith(word)][:_MOST_MEANT]


def _list_texts(tool: CompiledTool) -> Iterator[str]:
    yield tool.name
    yield tool.description
    yield from tool.options.tags
    for name, schema in tool.args_schema.flat.get("properties", {}).items():
        yield name
        if isinstance(schema, dict) and isinstance(text := schema.get("description"), str):
            yield text


def _count(tool: CompiledTool) -> dict[str, float]:
    """Count the words of a tool, weighted by where they occur."""
    name, *rest = _list_texts(tool)
    space = tool.options.extras.get("tool_namespace") or {}
    tags = [*tool.options.tags, str(space.get("name", "")), str(space.get("description", ""))]
    counts: dict[str, float] = defaultdict(float)
    for texts, weight in (((name,), _IN_NAME), (tags, _IN_TAGS), (rest, 1.0)):
        for text in texts:
            for word in read_words(text):
                counts[word] += weight
    return counts


def _weigh(counts: list[dict[str, float]]) -> dict[str, list[tuple[int, float]]]:
    """List the tools of each word with its weight for each: the sum of these ranks them."""
    lengths = [sum(each.values()) for each in counts]
    average = sum(lengths) / len(lengths) if any(lengths) else 1.0
    having: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, each in enumerate(counts):
        slack = _SATURATION * (1 - _LENGTH + _LENGTH * lengths[number] / average)
        for word, count in each.items():
            having[word].append((number, count * (_SATURATION + 1) / (count + slack)))
    weighed = {}
    for word, tools in having.items():
        rarity = math.log(1 + (len(counts) - len(tools) + 0.5) / (len(tools) + 0.5))
        weighed[word] = [(number, rarity * weight) for number, weight in tools]
    return weighed


# Within names: `sendMail` has two.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_WORD = re.compile(r"[^\W_]+")


def read_words(text: str) -> list[str]:
    """List the words of a text in lower case."""
    return _WORD.findall(_HUMP.sub(" ", text).casefold())


def find_stems(words: Iterable[str]) -> dict[str, str]:
    """Map words to their English stems: `refunding` and `refunds` to `refund`; words of other languages mostly stay."""
    listed = list(words)
    return dict(zip(listed, _stemming.Stemmer("english").stemWords(listed), strict=True))
