"""Read YAML as JSON has values, with PyYAML's safe loader."""

import importlib
import re
from functools import cache
from typing import Any

_BOOLEAN = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
# No dates, no booleans but true and false, and `=` is a text.
_UNLIKE = frozenset(f"tag:yaml.org,2002:{name}" for name in ("timestamp", "bool", "value"))
_MADE = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map"))
# Values that a text may stand for, each alias written out: a few lines of aliases could mean billions.
_MOST_VALUES = 5_000_000
# Levels of lists and objects, as in JSON.
_MOST_LEVELS = 200


def load_yaml(text: bytes) -> Any:
    """Return the value of a text.

    Raises:
        ModuleNotFoundError: PyYAML is not installed.
        ValueError: It is not YAML, or has values that JSON lacks.
    """
    library = importlib.import_module("yaml")
    try:
        loader = _make_loader()(text)
        try:
            document = loader.get_single_node()
            if document is None:
                return None
            _measure(document, {})
            return loader.construct_document(document)
        finally:
            loader.dispose()
    except LookupError as error:
        raise ValueError(f"a tag does not fit its value {error}") from None
    except (library.YAMLError, RecursionError) as error:
        raise ValueError(str(error).replace("\n", " ")) from None


@cache
def _make_loader() -> Any:
    library = importlib.import_module("yaml")
    base: Any = getattr(library, "CSafeLoader", library.SafeLoader)
    loader: Any = type("JsonLoader", (_Levels, base), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in known if tag not in _UNLIKE]
        for first, known in base.yaml_implicit_resolvers.items()
    }
    loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOLEAN, list("tTfF"))
    loader.yaml_constructors = {tag: make for tag, make in base.yaml_constructors.items() if tag in _MADE}
    loader.add_constructor(None, _construct_untagged)
    return loader


class _Levels:
    """Counts the levels of a text while PyYAML composes it, which tells its resolver of each node."""

    _level = 0

    def descend_resolver(self, _: Any, __: Any) -> None:
        self._level += 1
        if self._level > _MOST_LEVELS:
            raise ValueError(f"it has more than {_MOST_LEVELS} levels")

    def ascend_resolver(self) -> None:
        self._level -= 1


def _construct_untagged(loader: Any, node: Any) -> Any:
    """Construct a list or an object whose tag JSON has no word for; without its tag a scalar means nothing."""
    if node.id == "scalar":
        return loader.construct_undefined(node)
    return loader.construct_yaml_map(node) if node.id == "mapping" else loader.construct_yaml_seq(node)


def _measure(node: Any, known: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    """Return how many values a node stands for, and in how many levels, with each alias written out.

    Args:
        node: As PyYAML composes it.
        known: Measures of lists and objects by the `id` of their nodes; None for those that `node` is in.
    """
    if node.id == "scalar":
        return 1, 1
    if id(node) in known:
        measured = known[id(node)]
        if measured is None:
            raise ValueError("an alias stands for what it is in")
        return measured
    known[id(node)] = None
    inside = node.value if node.id == "sequence" else [each for pair in node.value for each in pair]
    values, levels = 1, 0
    for each in inside:
        more, below = _measure(each, known)
        values, levels = values + more, max(levels, below)
    if values > _MOST_VALUES or levels >= _MOST_LEVELS:
        raise ValueError("its aliases make more of it than can be read")
    known[id(node)] = values, levels + 1
    return values, levels + 1
