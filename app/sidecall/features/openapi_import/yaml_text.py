"""Read YAML into JSON values from the events of PyYAML's parser, in a third of its own loader's time."""

import importlib
import logging
import re
from collections.abc import Callable
from functools import cache
from typing import Any

_BOOLEAN = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
# No dates, and no booleans but true and false.
_UNLIKE = frozenset(("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool"))
_MERGE = "tag:yaml.org,2002:merge"
# Maximum number of values with aliases expanded; a few lines of aliases could mean billions.
_MOST_VALUES = 5_000_000

logger = logging.getLogger("sidecall")


def load_yaml(text: bytes) -> Any:
    """Return the value of a text.

    Raises:
        ModuleNotFoundError: PyYAML is not installed.
        ValueError: It is not YAML, or has values that JSON lacks.
    """
    library = importlib.import_module("yaml")
    loader = _choose_loader()(text)
    try:
        return _Builder(library, loader).build_document()
    except (library.YAMLError, RecursionError) as error:
        raise ValueError(str(error).replace("\n", " ")) from None
    finally:
        loader.dispose()


@cache
def _choose_loader() -> Any:
    library = importlib.import_module("yaml")
    base = getattr(library, "CSafeLoader", None)
    if base is None:
        logger.warning("PyYAML has no LibYAML here: documents in YAML take ten times as long to read as they could.")
        base = library.SafeLoader
    loader: Any = type("JsonLoader", (base,), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in known if tag not in _UNLIKE]
        for first, known in base.yaml_implicit_resolvers.items()
    }
    loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOLEAN, list("tTfF"))
    return loader


class _Builder:
    """Builds values while a text is parsed; an anchor's value is one shared object."""

    def __init__(self, library: Any, loader: Any) -> None:
        self._library = library
        self._loader = loader
        self._next: Callable[[], Any] = loader.get_event
        # Anchored values, with their sizes.
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._count = 0
        self._plain: dict[str, Any] = {}
        self._merge = object()

    def build_document(self) -> Any:
        self._next()  # The stream begins,
        if isinstance(self._next(), self._library.StreamEndEvent):  # and the document.
            return None
        made = self._build(self._next())
        self._next()
        if not isinstance(self._next(), self._library.StreamEndEvent):
            raise ValueError("there are several documents in it")
        return made

    def _build(self, event: Any) -> Any:
        kind, before = type(event), self._count
        self._count += 1
        if kind is self._library.ScalarEvent:
            made = self._read_scalar(event)
        elif kind is self._library.MappingStartEvent:
            made = self._build_mapping()
        elif kind is self._library.SequenceStartEvent:
            made = self._build_sequence()
        elif event.anchor in self._anchors:
            made, size = self._anchors[event.anchor]
            self._count += size
            if self._count > _MOST_VALUES:
                raise ValueError("its aliases make more of it than can be read")
            return made
        else:
            raise ValueError(f"the alias *{event.anchor} stands for nothing, or for what it is in")
        if event.anchor is not None:
            self._anchors[event.anchor] = made, self._count - before
        return made

    def _build_sequence(self) -> list[Any]:
        made: list[Any] = []
        end = self._library.SequenceEndEvent
        while type(event := self._next()) is not end:
            made.append(self._build(event))
        return made

    def _build_mapping(self) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        merged: list[Any] = []
        end = self._library.MappingEndEvent
        while type(event := self._next()) is not end:
            key = self._build(event)
            value = self._build(self._next())
            if key is self._merge:
                merged += value if isinstance(value, list) else [value]
            elif isinstance(key, dict | list):
                raise ValueError(f"a key is no text, {str(event.start_mark).strip()}")
            else:
                made[key] = value
        if not all(isinstance(each, dict) for each in merged):
            raise ValueError("`<<` takes mappings")
        return {**{key: value for each in reversed(merged) for key, value in each.items()}, **made} if merged else made

    def _read_scalar(self, event: Any) -> Any:
        text = event.value
        if not event.implicit[0]:
            return text if event.tag is None else self._construct(event.tag, event)
        if text not in self._plain:
            tag = self._loader.resolve(self._library.ScalarNode, text, (True, False))
            self._plain[text] = self._merge if tag == _MERGE else self._construct(tag, event)
        return self._plain[text]

    def _construct(self, tag: str, event: Any) -> Any:
        node = self._library.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        return self._loader.construct_object(node)
