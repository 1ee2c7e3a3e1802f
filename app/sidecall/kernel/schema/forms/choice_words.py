"""Describe for a model which arguments belong together, if a listing's form cannot express it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.merging import list_values

# A longer clause is cut: descriptions have a limit, and models ignore long ones.
_MAX_CLAUSE = 600
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Branch:
    """What one schema says of an object; `clauses` holds what its other fields cannot express.

    A clause continues the sentence "Send …", such as `route or file`.
    """

    properties: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    others: Schema = field(default_factory=dict)
    clauses: tuple[str, ...] = ()

    @property
    def alone(self) -> "Branch":
        """A copy without its clauses."""
        return replace(self, clauses=())

    def saying(self, clause: str) -> "Branch":
        """Return a copy with a clause, unless it is empty or present."""
        return self if not clause or clause in self.clauses else replace(self, clauses=(*self.clauses, clause))

    def takes(self, name: str) -> bool:
        """Return whether an object may have a property of this name."""
        is_closed = self.others.get("additionalProperties") is False and "patternProperties" not in self.others
        return not is_closed or name in self.properties


EMPTY = Branch()


def write_clauses(branch: Branch) -> str:
    """Format the clauses as sentences."""
    return _cut(" ".join(f"Send {clause}." for clause in branch.clauses))


def describe_choice(outer: Branch, options: Sequence[Branch], *, is_one: bool) -> str:
    """Describe a choice among options; empty if there is none.

    Args:
        outer: What holds for all options.
        options: The options.
        is_one: Whether exactly one of them may be chosen.
    """
    needs = [_list_needs(option, outer) for option in options]
    shared = set.intersection(*map(set, needs)) if needs else set()
    everywhere = set.intersection(*(set(option.properties) for option in options)) if options else set()
    hidden = everywhere | outer.properties.keys()
    differing = [[need for need in own if need not in shared] for own in needs]
    chosen = differing if all(differing) else needs
    texts = [_write_option(own, option, hidden) for own, option in zip(chosen, options, strict=True)]
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < 2 or not all(texts):
        return ""
    if all([text] == own for own, text in zip(chosen, texts, strict=True)):
        return _cut(_list_names(distinct, is_one=is_one and not _is_tagged(options)))
    suffix = ", but only one of these" if is_one and not _is_tagged(options) else ""
    return _cut(", or ".join(distinct)) + suffix


def describe_condition(
    outer: Branch, condition: Any, met: Branch | None, then: Branch | None, other: Branch | None
) -> str:
    """Describe what a condition requires, and what otherwise."""
    when = _write_condition(condition, met)
    wanted = "" if then is None else _write_branch(then, outer)
    instead = "" if other is None else _write_branch(other, outer)
    if instead:
        return _cut(f"{wanted} if {when}, otherwise {instead}" if wanted else f"{instead} unless {when}")
    return _cut(f"{wanted} if {when}") if wanted else ""


def describe_not(schema: Any, fold: Callable[[Any], Branch | None]) -> str:
    """Describe what a `not` forbids."""
    if not isinstance(schema, dict):
        return ""
    if isinstance(schema.get("anyOf"), list) and len(schema) == 1:
        return _cut(" and ".join(filter(None, (describe_not(option, fold) for option in schema["anyOf"]))))
    folded = fold(schema)
    needs = [] if folded is None else _list_needs(folded, Branch())
    if folded is not None and folded.clauses:
        needs = []
    if not needs:
        return "" if folded is None else _cut(f"nothing that fits {_write(schema)}")
    return _cut(f"no {needs[0]}" + (f" together with {_join_words(needs[1:], 'and')}" if needs[1:] else ""))


def describe_enum(objects: Sequence[Mapping[str, Any]]) -> str:
    """Describe an enumeration of whole objects."""
    texts = [_write(value) for value in objects]
    return _cut(_join_words(texts, "or")) if len(texts) > 1 else ""


def _list_needs(option: Branch, outer: Branch) -> list[str]:
    """List an option's required names, with constant values."""
    names = [name for name in option.required if name not in outer.required]
    fixed = {name: values for name, it in option.properties.items() if (values := _list_fixed(it)) is not None}
    named = [name for name in (*fixed, *names) if name in fixed or name in names]
    known = outer.properties
    return list(
        dict.fromkeys(
            f"{name} {_join_words(fixed[name], 'or')}" if name in fixed else name
            for name in named
            if name in names or _list_fixed(known.get(name, True)) != fixed.get(name)
        )
    )


def _list_fixed(schema: Any) -> list[str] | None:
    """List the JSON values of a property, if they are few and fixed; else None."""
    values = list_values(schema) if isinstance(schema, dict) else None
    return [_write(value) for value in values] if values is not None and 0 < len(values) <= _MAX_VALUES else None


_MAX_VALUES = 3


def _write_option(needs: Sequence[str], option: Branch, hidden: set[str]) -> str:
    text = " and ".join(needs)
    named = {need.partition(" ")[0] for need in needs}
    named |= set(_NAME.findall(" ".join(option.clauses)))
    extra = [name for name in option.properties if name not in hidden | named | set(option.required)]
    beside = [*option.clauses, *([f"optional: {', '.join(extra)}"] if extra else [])]
    if not text:
        return f"optionally {_join_words(extra, 'and')}" if extra and not option.clauses else "; ".join(beside)
    return text + (f" ({'; '.join(beside)})" if beside else "")


def _write_branch(branch: Branch, outer: Branch) -> str:
    return _write_option(_list_needs(branch, outer), branch, set(outer.properties))


def _write_condition(condition: Any, met: Branch | None) -> str:
    if met is not None and not any(" if " in clause or " unless " in clause for clause in met.clauses):
        sent = [name for name in met.required if _list_fixed(met.properties.get(name, True)) is None]
        fixed = {name: values for name, it in met.properties.items() if (values := _list_fixed(it)) is not None}
        parts = [f"{name} is {_join_words(values, 'or')}" for name, values in fixed.items()]
        parts += [f"{text} is sent" for text in (*sent, *met.clauses)]
        if parts:
            return " and ".join(parts)
    return f"the arguments fit {_write(condition)}"


def _is_tagged(options: Sequence[Branch]) -> bool:
    """Return whether a property has different values in each option."""
    names = set.intersection(*(set(option.properties) for option in options))
    for name in names:
        fixed = [_list_fixed(option.properties[name]) for option in options]
        values = [value for it in fixed if it is not None for value in it]
        if None not in fixed and len(values) == len(set(values)):
            return True
    return False


def _list_names(names: Sequence[str], *, is_one: bool) -> str:
    if not is_one:
        return _join_words(names, "or")
    return f"{_join_words(names, 'or')}, not both" if len(names) == 2 else f"only one of {_join_words(names, 'and')}"


def _join_words(words: Sequence[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _write(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}…"


_MAX_VALUE = 120


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CLAUSE else f"{text[:_MAX_CLAUSE]}…"
