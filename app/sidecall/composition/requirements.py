"""What stops the start where a feature is missing: tools and settings that ask for it."""

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from pydantic_settings import BaseSettings

from sidecall.feature import Feature
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.requirements import ToolRequirements, Wanted
from sidecall.kernel.suggest.fuzzy_match import find_resembling

S = TypeVar("S", bound=BaseSettings)
_OFF = "which SIDECALL_FEATURES_OFF leaves out"


class FeatureUnfit(SidecallError):
    """A feature cannot be taken."""


def leave_out(features: Iterable[Feature], names: Collection[str]) -> tuple[Feature, ...]:
    """Return the features without those of these names.

    Raises:
        FeatureUnfit: There is none of a name, it may not be left out, or one that stays needs it.
    """
    known = {feature.name: feature for feature in features}
    for name in names:
        if name not in known:
            nearest = find_resembling(name, known)
            meant = f"; did you mean {nearest}?" if nearest else ""
            raise FeatureUnfit(f"SIDECALL_FEATURES_OFF names {name}, and there is no such feature{meant}")
        if not known[name].can_be_off:
            raise FeatureUnfit(f"SIDECALL_FEATURES_OFF names {name}, without which no server starts")
    left = tuple(feature for feature in known.values() if feature.name not in names)
    for feature in left:
        if missing := [name for name in feature.needs if name in names]:
            also = f"name {feature.name}, too" if feature.can_be_off else "it cannot be off"
            raise FeatureUnfit(f"the feature {feature.name} needs {', '.join(missing)}, {_OFF}: {also}")
    return left


def find_dependent(features: Iterable[Feature], name: str) -> frozenset[str]:
    """Return the names of a feature and of all that need it, also by others."""
    every, found = tuple(features), frozenset({name})
    while more := {feature.name for feature in every if not found.isdisjoint(feature.needs)} - found:
        found |= more
    return found


def is_asked_for(feature: Feature, settings: Any) -> bool:
    """Return whether the settings of the server ask for what a feature gives as a text."""
    if feature.asked is not None:
        return feature.asked(settings)
    held = ((getattr(settings, name), value) for name, value in feature.settings_off.items())
    return any(now != (value(now) if callable(value) else value) for now, value in held)


def settle_settings(settings: S, off: Iterable[Feature]) -> S:
    """Return the settings as they hold while these features are off.

    Raises:
        FeatureUnfit: One that asks for such a feature is set.
    """
    changed: dict[str, Any] = {}
    for feature in off:
        for name, value in feature.settings_off.items():
            held = changed.get(name, getattr(settings, name))
            changed[name] = value(held) if callable(value) else value
            if changed[name] != held and name in settings.model_fields_set:
                raise FeatureUnfit(f"SIDECALL_{name.upper()} needs the feature {feature.name}, {_OFF}")
    return settings.model_copy(update=changed) if changed else settings


def make_requirements(features: Iterable[Feature], off: Iterable[Feature]) -> ToolRequirements:
    """Return what tools may have: of the kernel, and of the features that the server has; `off` were left out."""
    why = {wanted: f"the feature {name}, {_OFF}" for wanted, name in _list_owners(off).items()}
    return ToolRequirements(_list_owners(features), why)


def _list_owners(features: Iterable[Feature]) -> dict[Wanted, str]:
    return {
        (kind, name): feature.name
        for feature in features
        for kind, names in (
            ("option", feature.options),
            ("parameter", feature.parameters),
            ("executor", feature.executors),
        )
        for name in names
    }
