"""The methods of LangChain's Runnables that tools support."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar, Unpack, cast

from pydantic import BaseModel

from sidecall.authoring.inputs import Beside, ToolInput
from sidecall.authoring.options import OptionFields
from sidecall.compiler.langchain_runtime import RunnableConfig
from sidecall.kernel.core.virtual_subclasses import VirtualSubclass, find_from_virtual_base, find_virtual_bases

T = TypeVar("T", bound=OptionFields)


def fill_late(**makers: Callable[[Any], Any]) -> Callable[[type[T]], type[T]]:
    """Decorate a class so that these functions compute the fields of their names that an author leaves out.

    Such a field is removed from new objects with `forget`, and Python calls `__getattr__` for it. The computed value is
    stored separately, so that it does not count as the author's; None is computed again.
    """

    def decorate(kind: type[T]) -> type[T]:
        find: Callable[[Any, str], Any] = vars(BaseModel)["__getattr__"]

        def get(it: Any, name: str) -> Any:
            if name not in makers:
                return _find(it, name, find)
            kept = vars(it).get(f"_late_{name}")
            if kept is None:
                kept = vars(it)[f"_late_{name}"] = makers[name](it)
            return kept

        # Not in the body of the class: type checkers would then take any attribute for one that it has.
        type.__setattr__(kind, "__getattr__", get)
        return kind

    return decorate


def _find(it: Any, name: str, find: Callable[[Any, str], Any]) -> Any:
    """Return an attribute that is no field: a private one, or LangChain's, if LangChain is loaded."""
    try:
        return find(it, name)
    except AttributeError:
        with suppress(AttributeError):
            return find_from_virtual_base(it, name)
        if name in NOT_ON_TOOLS:
            raise AttributeError(f"{type(it).__name__} has no {name} here: {NOT_ON_TOOLS[name]}.") from None
        raise


def forget(it: OptionFields, **empty: Any) -> None:
    """Remove fields that only hold their empty default.

    An empty text that was given counts as a value, None does not.
    """
    values = vars(it)
    for name, nothing in empty.items():
        if values.get(name, ...) == nothing and (nothing is None or name not in it.model_fields_set):
            del values[name]


def forget_made(it: OptionFields) -> None:
    """Drop the computed fields, since the fields they depend on have changed."""
    for name in [name for name in vars(it) if name == "compiled" or name.startswith("_late_")]:
        del vars(it)[name]


# One config for all inputs, or one for each.
Configs = RunnableConfig | Sequence[RunnableConfig] | None


class RunnableFace:
    """Batches and streams, as in LangChain's Runnables."""

    @abstractmethod
    def invoke(self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]) -> Any:
        """Run a call."""

    @abstractmethod
    async def ainvoke(self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]) -> Any:
        """Run a call."""

    async def abatch(
        self,
        inputs: Sequence[ToolInput],
        config: Configs = None,
        *,
        return_exceptions: bool = False,
        **beside: Unpack[Beside],
    ) -> list[Any]:
        """Run calls concurrently, up to `max_concurrency` of the config; answers are in the calls' order.

        Args:
            inputs: The inputs of `ainvoke`.
            config: One for all, or one for each.
            return_exceptions: Whether failures are returned among the answers instead of being raised.
            beside: The other arguments of `ainvoke`.

        Raises:
            ValueError: There are not as many configs as inputs.
        """
        configs = _list_configs(config, len(inputs))
        room = asyncio.Semaphore((configs[0].get("max_concurrency") if configs else None) or max(1, len(inputs)))

        async def run(asked: ToolInput, one: RunnableConfig) -> Any:
            async with room:
                return await self.ainvoke(asked, one, **beside)

        runs = (run(asked, one) for asked, one in zip(inputs, configs, strict=True))
        answers = await asyncio.gather(*runs, return_exceptions=True)
        failed = next((it for it in answers if _is_raised(it, return_exceptions)), None)
        if failed is not None:
            raise failed
        return answers

    def batch(
        self,
        inputs: Sequence[ToolInput],
        config: Configs = None,
        *,
        return_exceptions: bool = False,
        **beside: Unpack[Beside],
    ) -> list[Any]:
        """Do the same as `abatch` in sync code."""
        context = copy_context()  # In which the call stands that these are a part of.
        with ThreadPoolExecutor(1) as thread:
            run = self.abatch(inputs, config, return_exceptions=return_exceptions, **beside)
            return thread.submit(context.run, asyncio.run, run).result()

    def stream(self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]) -> Iterator[Any]:
        """Yield the only answer; over HTTP a tool streams its parts."""
        yield self.invoke(input, config, **beside)

    async def astream(
        self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]
    ) -> AsyncIterator[Any]:
        """Do the same as `stream` in async code."""
        yield await self.ainvoke(input, config, **beside)

    def __or__(self, other: Any) -> Any:
        """Make a chain with LangChain, if that is loaded."""
        return _find_chaining(self, "__or__")(self, other)

    def __ror__(self, other: Any) -> Any:
        """Make a chain that ends with this tool."""
        return _find_chaining(self, "__ror__")(self, other)


class ConfiguredTool(RunnableFace):
    """A tool with a config for all its calls, as made by LangChain's `with_config`; otherwise the same tool."""

    def __init__(self, bound: Any, config: RunnableConfig) -> None:
        self.bound = bound
        self.config = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["bound"], name)

    def invoke(self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]) -> Any:
        """Run a call with both configs."""
        return self.bound.invoke(input, merge_configs(self.config, config), **beside)

    async def ainvoke(self, input: ToolInput, config: RunnableConfig | None = None, **beside: Unpack[Beside]) -> Any:
        """Run a call with both configs."""
        return await self.bound.ainvoke(input, merge_configs(self.config, config), **beside)

    def with_config(self, config: RunnableConfig | None = None, **options: Any) -> "ConfiguredTool":
        """Merge another config."""
        added = cast("RunnableConfig", {**(config or {}), **options})
        return ConfiguredTool(self.bound, merge_configs(self.config, added))


def merge_configs(first: RunnableConfig, second: RunnableConfig | None) -> RunnableConfig:
    """Merge two configs: tags, callbacks, members of `metadata` and `configurable`; otherwise the second wins."""
    given: Mapping[str, Any] = second or {}
    made: dict[str, Any] = {**first, **given}
    for name, value in first.items():
        if name in ("tags", "callbacks") and value and given.get(name):
            made[name] = [*_list_parts(value), *_list_parts(given[name])]
        elif name in ("metadata", "configurable") and isinstance(value, Mapping):
            made[name] = {**value, **(given.get(name) or {})}
    return cast("RunnableConfig", made)


def _list_parts(value: Any) -> list[Any]:
    return list(getattr(value, "handlers", value))


def _list_configs(config: Configs, count: int) -> list[RunnableConfig]:
    if config is None or isinstance(config, Mapping):
        return [config or RunnableConfig()] * count
    if len(config) != count:
        text = f"config must be a list of the same length as inputs, but got {len(config)} configs for {count} inputs"
        raise ValueError(text)
    return list(config)


def _find_chaining(it: Any, name: str) -> Any:
    kinds = find_virtual_bases(type(it)) if isinstance(it, VirtualSubclass) else ()
    found = next((getattr(kind, name) for kind in kinds if hasattr(kind, name)), None)
    if found is None:
        raise TypeError(_NO_CHAIN)
    return found


def _is_raised(answer: Any, return_exceptions: bool) -> bool:
    return isinstance(answer, BaseException) and not (return_exceptions and isinstance(answer, Exception))


_NO_CHAIN = "a tool is no part of a chain here: call tool.invoke(...) and hand its answer on."
# What else LangChain's tools have, and what does instead where LangChain is not loaded.
NOT_ON_TOOLS: Mapping[str, str] = {
    "bind": "say a default in the signature, or fill a parameter with InjectedToolArg",
    "with_retry": "write @tool(retry=Retry(...), annotations=ToolAnnotations(idempotent=True))",
    "with_fallbacks": "catch the failure in the tool, or call the other tool in the program",
    "with_listeners": "give callbacks=[...] to the tool, or in the config",
    "with_alisteners": "give callbacks=[...] to the tool, or in the config",
    "with_types": "annotate the function",
    "pipe": "call tool.invoke(...) and hand its answer on",
    "map": "call tool.batch(inputs)",
    "pick": "call tool.invoke(...) and take what you want of the answer",
    "assign": "call tool.invoke(...) and add to the answer",
    "transform": "call tool.stream(input)",
    "atransform": "call tool.astream(input)",
    "astream_events": "give callbacks=[...], or ask the server for the events of the call",
    "astream_log": "give callbacks=[...], or ask the server for the events of the call",
    "batch_as_completed": "call tool.batch(inputs)",
    "abatch_as_completed": "call tool.abatch(inputs)",
    "configurable_fields": "read runtime.context or a RunnableConfig in the tool",
    "configurable_alternatives": "choose the tool in the program",
    "as_tool": "it is a tool already",
    "get_graph": "there is no graph of a single tool",
    "get_prompts": "a tool has no prompts",
}
