"""What stops the start where a feature is missing: tools and settings that ask for it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from pydantic_settings import BaseSettings

from sidecall.feature import Feature
from sidecall.kernel.core.errors import InvalidToolOption, SidecallError
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.suggest.fuzzy_match import find_resembling

# What the kernel does itself. Any other option, source of a hidden parameter or executor belongs to a feature.
KERNEL_OPTIONS = frozenset(
    "return_direct response_format tags metadata timeout timeout_behavior timeout_error_function executor"
    " memory_limit_mb unknown_args extras annotations handle_tool_error handle_validation_error failure_error_function"
    " callbacks tool_input_guardrails tool_output_guardrails is_enabled preview strict max_concurrency sequential retry"
    " max_content_bytes".split()
)
KERNEL_PARAMETERS = frozenset("context call_id state tool_context caller made".split())
KERNEL_EXECUTORS = frozenset("inline thread process".split())
S = TypeVar("S", bound=BaseSettings)
_OFF = "which SIDECALL_FEATURES_OFF leaves out"


class FeatureUnfit(SidecallError):
    """A feature cannot be taken."""


class FeatureMissing(InvalidToolOption):
    """A tool asks for a feature that the server does not have."""


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


class ToolRequirements:
    """Which options, hidden parameters and executors the tools of a server may have."""

    def __init__(self, features: Iterable[Feature], off: Iterable[Feature]) -> None:
        """Take the features that the server has, and those that were left out."""
        there, missing = tuple(features), tuple(off)
        self._off = _list_owners(missing)
        self._may = _list_owners(there).keys() | _list_kernel()

    def hold(self, tool: CompiledTool) -> None:
        """Require that everything a tool asks for is there.

        Raises:
            FeatureMissing: Something is not.
        """
        for wanted in _list_wanted(tool):
            if wanted not in self._may:
                kind, name = wanted
                owner = self._off.get(wanted)
                why = "a feature that is not installed" if owner is None else f"the feature {owner}, {_OFF}"
                raise FeatureMissing(
                    f"the tool {tool.name!r} ({tool.source}): {_WORDS[kind].format(name)} needs {why}."
                )


# Of what kind it is, and its name.
_Wanted = tuple[str, str]
_WORDS = {"option": "`{}`", "parameter": "a hidden parameter ({})", "executor": "`executor={!r}`"}
_DEFAULTS: Mapping[str, Any] = {
    it.name: it.default if it.default_factory is MISSING else it.default_factory()
    for it in fields(ToolOptions)
    if it.init
}
_OF_FEATURES = tuple(name for name in _DEFAULTS if name not in KERNEL_OPTIONS)


def _list_owners(features: Iterable[Feature]) -> dict[_Wanted, str]:
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


def _list_kernel() -> set[_Wanted]:
    parts = (("option", KERNEL_OPTIONS), ("parameter", KERNEL_PARAMETERS), ("executor", KERNEL_EXECUTORS))
    return {(kind, name) for kind, names in parts for name in names}


def _list_wanted(tool: CompiledTool) -> Iterator[_Wanted]:
    options = tool.options
    for name in _OF_FEATURES:
        if getattr(options, name) != _DEFAULTS[name]:
            yield "option", name
    for injection in tool.injections:
        yield "parameter", injection.source
    yield "executor", "sandbox" if tool.sandbox_use else tool.executor
