"""Resolve unknown arguments at any depth: repaired, refused or dropped, never misread."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.drafts import list_forbidden
from sidecall.kernel.schema.errors.entries import Path, list_options, make_ambiguous, make_misnamed, make_unknown
from sidecall.kernel.schema.errors.fitting import fits_outside, has_type, is_untyped, takes_inside
from sidecall.kernel.schema.errors.unknown_keys import UnknownKey
from sidecall.kernel.schema.whole_numbers import drop_member, replace_member
from sidecall.kernel.suggest.fuzzy_match import count_shared_words, find_closest_names, find_likely_name, find_same

# A call with more of them means another tool.
MOST_STRAYS = 20
# Keywords of schemas that an object may fit.
_HOLDING = frozenset(("properties", "anyOf", "oneOf", "$ref"))


@dataclass(slots=True)
class Notes:
    """What was found and done while arguments were repaired.

    `meant` are the places that misnamed arguments were meant for, whose values are checked there. `renamed` are the
    places of renamed ones, with the original. `nulls` are places from which a null was removed, and the error if a
    value is required. `kept` are unknown names in objects that leave open which names they take.
    """

    repaired: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    errors: list[FieldError] = field(default_factory=list)
    meant: set[Path] = field(default_factory=set)
    renamed: dict[Path, UnknownKey] = field(default_factory=dict)
    nulls: dict[Path, FieldError] = field(default_factory=dict)
    kept: set[Path] = field(default_factory=set)


def settle(
    data: Any,
    unknown_keys: Sequence[UnknownKey],
    root: Schema,
    notes: Notes,
    *,
    kept_from: int | None = None,
    guards: int = 0,
) -> Any:
    """Copy the data with every unknown key repaired or dropped; those to be refused become errors in the notes.

    Args:
        data: What was sent.
        unknown_keys: Its names without a place.
        root: The schema.
        notes: What was found and done.
        kept_from: How long the path of a name has to be that is kept if it resembles nothing; None drops them all.
        guards: How long the path of a name may be that is refused where it may have been meant for what was not sent.
    """
    if len(unknown_keys) > MOST_STRAYS:
        notes.errors += [make_unknown(it.path, list(it.node["properties"])) for it in unknown_keys]
        return data
    settling = _Settling(data, root, notes)
    unlike = [unknown_key for unknown_key in unknown_keys if not settling.place(unknown_key)]
    for unknown_key in unlike:
        beside = [other for other in unlike if other.path[:-1] == unknown_key.path[:-1]]
        if settling.guess(unknown_key, beside) or settling.refuse(unknown_key):
            continue
        if len(unknown_key.path) <= guards and (settling.enclose(unknown_key) or settling.doubt(unknown_key)):
            continue
        if kept_from is not None and len(unknown_key.path) >= kept_from:
            notes.kept.add(unknown_key.path)
        else:
            notes.ignored.append(_show(unknown_key.path))
            settling.drop(unknown_key)
    return settling.data


class _Settling:
    """The data while its unknown keys are resolved."""

    # A value that is refused stands where it was meant to be all the same, so that all else that is wrong with it is
    # said at once.

    def __init__(self, data: Any, root: Schema, notes: Notes) -> None:
        self.data = data
        self._root = root
        self._notes = notes

    def drop(self, unknown_key: UnknownKey) -> None:
        """Drop an unknown key."""
        self.data = drop_member(self.data, unknown_key.path)

    def place(self, unknown_key: UnknownKey) -> bool:
        """Rename or move an unknown key by its name, and return whether that was possible."""
        parent = unknown_key.path[:-1]
        same = find_same(unknown_key.name, unknown_key.node["properties"])
        twin = next((name for name in same if name in unknown_key.sent), None)
        free = [name for name in same if name not in unknown_key.sent and (*parent, name) not in self._notes.meant]
        if len(free) == 1:
            self._notes.repaired.append(f"{_show((*parent, free[0]))}: sent under its name in other letters")
            self._notes.renamed[(*parent, free[0])] = unknown_key
            self._move(unknown_key, (*parent, free[0]))
            return True
        if twin is not None:
            return self._compare(unknown_key, twin)
        elsewhere = self._find_elsewhere(unknown_key)
        if elsewhere is not None:
            self._misname(unknown_key, elsewhere)
            return True
        alike = self._choose(unknown_key, find_closest_names(unknown_key.name, unknown_key.unsent))
        self._offer(unknown_key, alike)
        return bool(alike)

    def _choose(self, unknown_key: UnknownKey, alike: list[str]) -> list[str]:
        """Choose the required one among similar names."""
        required = [name for name in alike if name in unknown_key.node.get("required", ())]
        return required if len(alike) > 1 and len(required) == 1 else alike

    def _compare(self, unknown_key: UnknownKey, twin: str) -> bool:
        if unknown_key.sent[twin] == unknown_key.value:
            return False
        said = f"This is sent twice; send {twin} only"
        self._notes.errors.append({"loc": list(unknown_key.path), "type": "repeated_argument", "msg": said})
        self.drop(unknown_key)
        return True

    def guess(self, unknown_key: UnknownKey, beside: Sequence[UnknownKey]) -> bool:
        """Match an unknown key to missing arguments that its value fits, and return whether there are any.

        One key for one missing argument, or one of several for several.
        """
        required = [name for name in unknown_key.node.get("required", ()) if name not in unknown_key.sent]
        missing = [name for name in required if (*unknown_key.path[:-1], name) not in self._notes.meant]
        is_one_of_several = len(beside) > 1 and len(required) > 1
        if not missing or not (is_one_of_several or len(missing) == len(beside) == 1):
            return False
        fitting = [
            name
            for name in missing
            if fits_outside(unknown_key.value, unknown_key.node["properties"].get(name), self._root)
        ]
        shared = {name: count_shared_words(unknown_key.name, name) for name in fitting} if len(fitting) > 1 else {}
        best = [name for name in shared if shared[name] == max(shared.values())]
        offered = best if len(best) == 1 else fitting
        self._offer(unknown_key, offered)
        return bool(offered)

    def _offer(self, unknown_key: UnknownKey, names: Sequence[str]) -> None:
        """Refuse an unknown key, naming the arguments it may have meant."""
        if len(names) == 1:
            self._misname(unknown_key, (*unknown_key.path[:-1], names[0]))
        elif names:
            self._notes.errors.append(make_ambiguous(unknown_key.path, names))
            self.drop(unknown_key)

    def _misname(self, unknown_key: UnknownKey, meant: Path) -> None:
        self._notes.errors.append(make_misnamed(unknown_key.path, meant, list(unknown_key.node["properties"])))
        self._move(unknown_key, meant)

    def _move(self, unknown_key: UnknownKey, place: Path) -> None:
        self._notes.meant.add(place)
        self.drop(unknown_key)
        *parents, name = place
        inner = self.data
        for depth, step in enumerate(parents):
            if isinstance(inner, dict) and inner.get(step) is None:
                self.data = replace_member(self.data, place[:depth], {**inner, step: {name: unknown_key.value}})
                return
            inner = inner[step]
        self.data = replace_member(self.data, place[:-1], {**inner, name: unknown_key.value})

    def refuse(self, unknown_key: UnknownKey) -> bool:
        """Refuse an unknown key if its object forbids others, and return whether that is so."""
        if unknown_key.node.get("additionalProperties") is not False and unknown_key.name not in list_forbidden(
            unknown_key.node
        ):
            return False
        likely = find_likely_name(unknown_key.name, unknown_key.unsent)
        if likely is None:
            self._notes.errors.append(make_unknown(unknown_key.path, list(unknown_key.node["properties"])))
            self.drop(unknown_key)
        else:
            self._misname(unknown_key, (*unknown_key.path[:-1], likely))
        return True

    def enclose(self, unknown_key: UnknownKey) -> bool:
        """Refuse a key that may belong inside an object with free keys, and return whether there is one."""
        unsent = {name: unknown_key.node["properties"][name] for name in unknown_key.unsent}
        holders = [name for name, schema in unsent.items() if takes_inside(unknown_key.value, schema, self._root)]
        if (
            not holders and len(unknown_key.node["properties"]) == len(unsent) == 1
        ):  # The only argument may be anything.
            holders = [name for name, schema in unsent.items() if is_untyped(schema, self._root)]
        if len(holders) == 1:
            place = (*unknown_key.path[:-1], holders[0])
            is_whole = isinstance(unknown_key.value, dict) and fits_outside(
                unknown_key.value, unsent[holders[0]], self._root
            )
            self._misname(unknown_key, place if is_whole else (*place, unknown_key.name))
        return len(holders) == 1

    def doubt(self, unknown_key: UnknownKey) -> bool:
        """Refuse a key that may mean an optional argument of its type, and return whether there is one."""
        required = unknown_key.node.get("required", ())
        optional = {name: unknown_key.node["properties"][name] for name in unknown_key.unsent if name not in required}
        meant = {path[-1] for path in self._notes.meant if path[:-1] == unknown_key.path[:-1]}
        if not any(has_type(unknown_key.value, it, self._root) for name, it in optional.items() if name not in meant):
            return False
        self._notes.errors.append(make_unknown(unknown_key.path, list(unknown_key.node["properties"])))
        self.drop(unknown_key)
        return True

    def _find_elsewhere(self, unknown_key: UnknownKey) -> Path | None:
        """Find an argument of this exact name one level further in, or next to the object that it was sent in."""
        for name, inner in unknown_key.node["properties"].items():
            if not isinstance(inner, dict) or _HOLDING.isdisjoint(inner):
                continue
            options = list_options(inner, self._root)
            sent = unknown_key.sent.get(name) or {}
            if isinstance(sent, dict) and any(unknown_key.name in it.get("properties", ()) for it in options):
                return None if unknown_key.name in sent else (*unknown_key.path[:-1], name, unknown_key.name)
        known = self._root.get("properties", {})
        is_outer = len(unknown_key.path) > 1 and unknown_key.name in known and unknown_key.name not in self.data
        return (unknown_key.name,) if is_outer else None


def _show(path: Path) -> str:
    """Format a path, with long names cut."""
    return format_path([part if isinstance(part, int) or len(part) <= 64 else f"{part[:63]}…" for part in path])
