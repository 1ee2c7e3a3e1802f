"""What tools may ask for where a feature is missing: nothing that is the feature's."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any

from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.tool import CompiledTool

# Of what kind it is, and its name.
Wanted = tuple[str, str]
# What the kernel does itself. Any other option, source of a hidden parameter or executor belongs to a feature.
KERNEL_OPTIONS = frozenset(
    "return_direct response_format tags metadata timeout timeout_behavior timeout_error_function executor"
    " memory_limit_mb unknown_args extras annotations handle_tool_error handle_validation_error failure_error_function"
    " callbacks tool_input_guardrails tool_output_guardrails is_enabled preview strict max_concurrency sequential retry"
    " max_content_bytes".split()
)
KERNEL_PARAMETERS = frozenset("context call_id state tool_context caller made".split())
KERNEL_EXECUTORS = frozenset("inline thread".split())
_WORDS = {"option": "`{}`", "parameter": "a hidden parameter ({})", "executor": "`executor={!r}`"}
_DEFAULTS: Mapping[str, Any] = {
    it.name: it.default if it.default_factory is MISSING else it.default_factory()
    for it in fields(ToolOptions)
    if it.init
}
_OF_FEATURES = tuple(name for name in _DEFAULTS if name not in KERNEL_OPTIONS)


class FeatureMissing(InvalidToolOption):
    """A tool asks for a feature that is not there."""


class ToolRequirements:
    """Which options, hidden parameters and executors tools may have."""

    def __init__(self, there: Collection[Wanted] = (), why: Mapping[Wanted, str] = MappingProxyType({})) -> None:
        """Take what there is beside what the kernel does itself, and what says of the rest why it is missing."""
        self._why = why
        self._may = {*there, *_list_kernel()}

    def hold(self, tool: CompiledTool) -> None:
        """Require that everything a tool asks for is there.

        Raises:
            FeatureMissing: Something is not.
        """
        lack = self.find_lack(tool)
        if lack is not None:
            raise FeatureMissing(f"the tool {tool.name!r} ({tool.source}): {lack}.")

    def find_lack(self, tool: CompiledTool) -> str | None:
        """Return what a tool asks for that is not there, in words; None where all is."""
        for wanted in _list_wanted(tool):
            if wanted not in self._may:
                kind, name = wanted
                return f"{_WORDS[kind].format(name)} needs {self._why.get(wanted, 'a feature that is not installed')}"
        return None


def _list_kernel() -> set[Wanted]:
    parts = (("option", KERNEL_OPTIONS), ("parameter", KERNEL_PARAMETERS), ("executor", KERNEL_EXECUTORS))
    return {(kind, name) for kind, names in parts for name in names}


def _list_wanted(tool: CompiledTool) -> Iterator[Wanted]:
    options = tool.options
    for name in _OF_FEATURES:
        if getattr(options, name) != _DEFAULTS[name]:
            yield "option", name
    for injection in tool.injections:
        yield "parameter", injection.source
    yield "executor", "sandbox" if tool.sandbox_use else tool.executor
