"""Settle what becomes of arguments that have no place, at any depth: mended, refused or dropped, never misread."""

from collections.abc import Sequence
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.normal.dialects import list_forbidden
from sidecall.kernel.schema.paths import drop_member, replace_member
from sidecall.kernel.schema.repair.entries import Path, make_ambiguous, make_misnamed, make_unknown
from sidecall.kernel.schema.repair.fitting import fits_outside, has_type, is_untyped, takes_inside
from sidecall.kernel.schema.repair.members import list_options
from sidecall.kernel.schema.repair.unknown_keys import Notes, Stray
from sidecall.kernel.suggest.fuzzy_match import count_shared_words, find_alike, find_likely, find_same

# Whoever sends more of them means another tool.
MOST_STRAYS = 20
# Keywords of schemas that an object may fit.
_HOLDING = frozenset(("properties", "anyOf", "oneOf", "$ref"))


def settle(
    data: Any,
    strays: Sequence[Stray],
    root: Schema,
    notes: Notes,
    *,
    kept_from: int | None = None,
    guards: int = 0,
) -> Any:
    """Copy the data with every stray mended or left out; what has to be refused is an error in the notes.

    Args:
        data: What was sent.
        strays: Its names without a place.
        root: The schema.
        notes: What was found and done.
        kept_from: How long the path of a name has to be that is kept if it resembles nothing; None drops them all.
        guards: How long the path of a name may be that is refused where it may have been meant for what was not sent.
    """
    if len(strays) > MOST_STRAYS:
        notes.errors += [make_unknown(it.path, list(it.node["properties"])) for it in strays]
        return data
    settling = _Settling(data, root, notes)
    unlike = [stray for stray in strays if not settling.place(stray)]
    for stray in unlike:
        beside = [other for other in unlike if other.path[:-1] == stray.path[:-1]]
        if settling.guess(stray, beside) or settling.refuse(stray):
            continue
        if len(stray.path) <= guards and (settling.enclose(stray) or settling.doubt(stray)):
            continue
        if kept_from is not None and len(stray.path) >= kept_from:
            notes.kept.add(stray.path)
        else:
            notes.ignored.append(_show(stray.path))
            settling.drop(stray)
    return settling.data


class _Settling:
    """The data on its way to having no strays."""

    # A value that is refused stands where it was meant to be all the same, so that all else that is wrong with it is
    # said at once.

    def __init__(self, data: Any, root: Schema, notes: Notes) -> None:
        self.data = data
        self._root = root
        self._notes = notes

    def drop(self, stray: Stray) -> None:
        """Leave a stray out."""
        self.data = drop_member(self.data, stray.path)

    def place(self, stray: Stray) -> bool:
        """Put a stray where its name says that it belongs, and return whether it says so."""
        parent = stray.path[:-1]
        same = find_same(stray.name, stray.node["properties"])
        twin = next((name for name in same if name in stray.sent), None)
        free = [name for name in same if name not in stray.sent and (*parent, name) not in self._notes.meant]
        if len(free) == 1:
            self._notes.repaired.append(f"{_show((*parent, free[0]))}: sent under its name in other letters")
            self._notes.renamed[(*parent, free[0])] = stray
            self._move(stray, (*parent, free[0]))
            return True
        if twin is not None:
            return self._compare(stray, twin)
        elsewhere = self._find_elsewhere(stray)
        if elsewhere is not None:
            self._misname(stray, elsewhere)
            return True
        alike = self._choose(stray, find_alike(stray.name, stray.unsent))
        self._offer(stray, alike)
        return bool(alike)

    def _choose(self, stray: Stray, alike: list[str]) -> list[str]:
        """Choose what has to be sent, where a name resembles several."""
        required = [name for name in alike if name in stray.node.get("required", ())]
        return required if len(alike) > 1 and len(required) == 1 else alike

    def _compare(self, stray: Stray, twin: str) -> bool:
        if stray.sent[twin] == stray.value:
            return False
        said = f"This is sent twice; send {twin} only"
        self._notes.errors.append({"loc": list(stray.path), "type": "repeated_argument", "msg": said})
        self.drop(stray)
        return True

    def guess(self, stray: Stray, beside: Sequence[Stray]) -> bool:
        """Offer a stray what is missing and its value fits, and return whether there is such a thing.

        One name for the one that is missing, or one of several for several.
        """
        required = [name for name in stray.node.get("required", ()) if name not in stray.sent]
        missing = [name for name in required if (*stray.path[:-1], name) not in self._notes.meant]
        is_one_of_several = len(beside) > 1 and len(required) > 1
        if not missing or not (is_one_of_several or len(missing) == len(beside) == 1):
            return False
        fitting = [
            name for name in missing if fits_outside(stray.value, stray.node["properties"].get(name), self._root)
        ]
        shared = {name: count_shared_words(stray.name, name) for name in fitting} if len(fitting) > 1 else {}
        best = [name for name in shared if shared[name] == max(shared.values())]
        offered = best if len(best) == 1 else fitting
        self._offer(stray, offered)
        return bool(offered)

    def _offer(self, stray: Stray, names: Sequence[str]) -> None:
        """Refuse a stray, and say which names it may have meant."""
        if len(names) == 1:
            self._misname(stray, (*stray.path[:-1], names[0]))
        elif names:
            self._notes.errors.append(make_ambiguous(stray.path, names))
            self.drop(stray)

    def _misname(self, stray: Stray, meant: Path) -> None:
        self._notes.errors.append(make_misnamed(stray.path, meant, list(stray.node["properties"])))
        self._move(stray, meant)

    def _move(self, stray: Stray, place: Path) -> None:
        self._notes.meant.add(place)
        self.drop(stray)
        *parents, name = place
        inner = self.data
        for depth, step in enumerate(parents):
            if isinstance(inner, dict) and inner.get(step) is None:
                self.data = replace_member(self.data, place[:depth], {**inner, step: {name: stray.value}})
                return
            inner = inner[step]
        self.data = replace_member(self.data, place[:-1], {**inner, name: stray.value})

    def refuse(self, stray: Stray) -> bool:
        """Refuse a stray where its object takes no other names, and return whether that is so."""
        if stray.node.get("additionalProperties") is not False and stray.name not in list_forbidden(stray.node):
            return False
        likely = find_likely(stray.name, stray.unsent)
        if likely is None:
            self._notes.errors.append(make_unknown(stray.path, list(stray.node["properties"])))
            self.drop(stray)
        else:
            self._misname(stray, (*stray.path[:-1], likely))
        return True

    def enclose(self, stray: Stray) -> bool:
        """Refuse what may have been meant for the inside of an object of any keys, and return whether there is one."""
        unsent = {name: stray.node["properties"][name] for name in stray.unsent}
        holders = [name for name, schema in unsent.items() if takes_inside(stray.value, schema, self._root)]
        if not holders and len(stray.node["properties"]) == len(unsent) == 1:  # The only argument may be anything.
            holders = [name for name, schema in unsent.items() if is_untyped(schema, self._root)]
        if len(holders) == 1:
            place = (*stray.path[:-1], holders[0])
            is_whole = isinstance(stray.value, dict) and fits_outside(stray.value, unsent[holders[0]], self._root)
            self._misname(stray, place if is_whole else (*place, stray.name))
        return len(holders) == 1

    def doubt(self, stray: Stray) -> bool:
        """Refuse what may have been meant for something optional of its type, and return whether there is such."""
        required = stray.node.get("required", ())
        optional = {name: stray.node["properties"][name] for name in stray.unsent if name not in required}
        meant = {path[-1] for path in self._notes.meant if path[:-1] == stray.path[:-1]}
        if not any(has_type(stray.value, it, self._root) for name, it in optional.items() if name not in meant):
            return False
        self._notes.errors.append(make_unknown(stray.path, list(stray.node["properties"])))
        self.drop(stray)
        return True

    def _find_elsewhere(self, stray: Stray) -> Path | None:
        """Find an argument of this very name one level further in, or beside the object that it was sent in."""
        for name, inner in stray.node["properties"].items():
            if not isinstance(inner, dict) or _HOLDING.isdisjoint(inner):
                continue
            options = list_options(inner, self._root)
            sent = stray.sent.get(name) or {}
            if isinstance(sent, dict) and any(stray.name in it.get("properties", ()) for it in options):
                return None if stray.name in sent else (*stray.path[:-1], name, stray.name)
        known = self._root.get("properties", {})
        is_outer = len(stray.path) > 1 and stray.name in known and stray.name not in self.data
        return (stray.name,) if is_outer else None


def _show(path: Path) -> str:
    """Write a path, a name of it not longer than anybody needs."""
    return format_path([part if isinstance(part, int) or len(part) <= 64 else f"{part[:63]}…" for part in path])
