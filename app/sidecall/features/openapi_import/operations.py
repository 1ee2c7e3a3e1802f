"""The operations of an OpenAPI document: which are wanted, and their names as tools."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import filter as fnfilter
from fnmatch import fnmatchcase
from typing import Any

from sidecall.features.openapi_import.definitions import Definitions, Unusable

_METHODS = ("get", "head", "put", "post", "patch", "delete", "options", "trace", "query")
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_MOST = 64
_HASH = 7


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """An operation with the parts that it shares with its path."""

    method: str
    path: str
    said: dict[str, Any]
    beside: dict[str, Any]

    @property
    def id(self) -> str:
        """The document's id, or the method and path."""
        return str(self.said.get("operationId") or f"{self.method}{self.path}")

    @property
    def tags(self) -> list[str]:
        """Its tags."""
        return [tag for tag in self.said.get("tags") or () if isinstance(tag, str)]

    @property
    def label(self) -> str:
        """Its method and path, for people."""
        return f"{self.method.upper()} {self.path}"

    @property
    def is_reading(self) -> bool:
        """Whether the method is read-only."""
        return self.method in ("get", "head", "query")

    def list_parameters(self, definitions: Definitions) -> list[dict[str, Any]]:
        """List its parameters; its own override those of its path.

        Raises:
            Unusable: One cannot be found.
        """
        found: dict[tuple[Any, Any], dict[str, Any]] = {}
        for given in (*(self.beside.get("parameters") or ()), *(self.said.get("parameters") or ())):
            parameter = definitions.resolve(given)
            if not isinstance(parameter, dict) or not isinstance(parameter.get("name"), str):
                raise Unusable("a parameter has no name")
            found[parameter["name"], parameter.get("in")] = parameter
        return list(found.values())


@dataclass(frozen=True, slots=True)
class OperationFilter:
    """The filters for operations that become tools; ids and paths may contain `*`."""

    operations: Sequence[str] = ()
    tags: Sequence[str] = ()
    paths: Sequence[str] = ()
    methods: Sequence[str] = ()
    without: Sequence[str] = ()

    def has(self, operation: ApiOperation) -> bool:
        """Return whether an operation is wanted."""
        if _match(self.without, operation.id):
            return False
        return (
            (not self.operations or _match(self.operations, operation.id))
            and (not self.tags or not set(self.tags).isdisjoint(operation.tags))
            and (not self.paths or _match(self.paths, operation.path))
            and (not self.methods or operation.method in {method.lower() for method in self.methods})
        )

    def list_idle(self, operations: Sequence[ApiOperation]) -> list[str]:
        """List what of it fits none of the operations, as a misspelt name does."""
        ids, tags = [operation.id for operation in operations], {tag for it in operations for tag in it.tags}
        paths, methods = [operation.path for operation in operations], {operation.method for operation in operations}
        return [
            *(f"operation {it!r}" for it in (*self.operations, *self.without) if not fnfilter(ids, it)),
            *(f"tag {it!r}" for it in self.tags if it not in tags),
            *(f"path {it!r}" for it in self.paths if not fnfilter(paths, it)),
            *(f"method {it!r}" for it in self.methods if it.lower() not in methods),
        ]


def _match(patterns: Iterable[str], text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def list_operations(document: dict[str, Any], definitions: Definitions) -> Iterator[ApiOperation]:
    """Yield all operations, in the document's order."""
    for path, written in document.get("paths", {}).items():
        try:
            item = definitions.resolve(written)
        except Unusable:
            continue
        if isinstance(item, dict):
            for method in _METHODS:
                if isinstance(item.get(method), dict):
                    yield ApiOperation(method, path, item[method], item)


@dataclass(slots=True)
class ToolNames:
    """Give operations names that every provider takes, each its own."""

    prefix: str = ""
    _taken: set[str] = field(default_factory=set)

    def choose(self, operation: ApiOperation) -> str:
        """Return a name of at most 64 letters, digits, `_` and `-`; one that is cut or taken ends in a short hash."""
        name = self.prefix + (_UNFIT.sub("_", operation.id).strip("_") or operation.method)
        if len(name) > _MOST or name in self._taken:
            digest = hashlib.sha256(f"{operation.label} {operation.id}".encode()).hexdigest()[:_HASH]
            name = f"{name[: _MOST - _HASH - 1].rstrip('_')}_{digest}"
        self._taken.add(name)
        return name
