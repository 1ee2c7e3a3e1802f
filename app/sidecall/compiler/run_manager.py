"""LangChain's `run_manager` and `callbacks`, for tools that ask for them."""

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self
from uuid import UUID

from uuid_utils.compat import uuid7

from sidecall.kernel.core.callbacks import BaseCallbackHandler

logger = logging.getLogger("sidecall")


class CallbackManager:
    """The handlers for the LangChain runnables that a tool calls."""

    def __init__(
        self,
        handlers: Iterable[Any] = (),
        inheritable_handlers: Iterable[Any] | None = None,
        parent_run_id: UUID | None = None,
        *,
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.handlers = list(handlers)
        self.inheritable_handlers = list(self.handlers if inheritable_handlers is None else inheritable_handlers)
        self.parent_run_id = parent_run_id
        self.tags = list(tags)
        self.inheritable_tags = list(tags)
        self.metadata = dict(metadata or {})
        self.inheritable_metadata = dict(metadata or {})

    def copy(self) -> Self:
        """Return a copy with the same handlers."""
        made = type(self)(self.handlers, self.inheritable_handlers, self.parent_run_id)
        made.tags, made.inheritable_tags = list(self.tags), list(self.inheritable_tags)
        made.metadata, made.inheritable_metadata = dict(self.metadata), dict(self.inheritable_metadata)
        return made

    def add_handler(self, handler: Any, inherit: bool = True) -> None:
        """Add a handler, once."""
        lists = (self.handlers, self.inheritable_handlers) if inherit else (self.handlers,)
        for handlers in lists:
            if handler not in handlers:
                handlers.append(handler)

    def remove_handler(self, handler: Any) -> None:
        """Remove a handler."""
        for handlers in (self.handlers, self.inheritable_handlers):
            if handler in handlers:
                handlers.remove(handler)


class AsyncCallbackManager(CallbackManager):
    """The same for async tools."""

    is_async = True


# What LangChain takes as `callbacks`.
Callbacks = list[BaseCallbackHandler] | CallbackManager | None


class _Run:
    """The shared part of sync and async run managers."""

    _child: type[CallbackManager] = CallbackManager

    def __init__(
        self,
        *,
        run_id: UUID,
        handlers: Iterable[Any] = (),
        inheritable_handlers: Iterable[Any] | None = None,
        parent_run_id: UUID | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.run_id = run_id
        self.parent_run_id = parent_run_id
        self.handlers = list(handlers)
        self.inheritable_handlers = list(self.handlers if inheritable_handlers is None else inheritable_handlers)
        self.tags = list(tags)
        self.metadata = dict(metadata or {})

    @classmethod
    def get_noop_manager(cls) -> Self:
        """Make one without listeners."""
        return cls(run_id=uuid7())

    def get_child(self, tag: str | None = None) -> Any:
        """Return the `callbacks` for runnables that the tool calls."""
        child = self._child(self.inheritable_handlers, None, self.run_id, tags=self.tags, metadata=self.metadata)
        child.tags += [] if tag is None else [tag]
        return child

    def _list_listeners(self, event: str) -> list[Callable[..., Any]]:
        found = (getattr(handler, event, None) for handler in self.handlers)
        return [listener for listener in found if callable(listener)]

    def _say(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {"run_id": self.run_id, "parent_run_id": self.parent_run_id, "tags": list(self.tags), **kwargs}


class CallbackManagerForToolRun(_Run):
    """The run of a sync tool, which LangChain passes as `run_manager`."""

    def on_text(self, text: str, **kwargs: Any) -> None:
        """Pass a text to the tool's callback handlers with a sync `on_text`."""
        for listener in self._list_listeners("on_text"):
            if not inspect.iscoroutinefunction(listener):
                try:
                    listener(text, **self._say(kwargs))
                except Exception:
                    logger.warning("a callback (on_text) failed", exc_info=True)


class AsyncCallbackManagerForToolRun(_Run):
    """The run of an async tool, which LangChain passes as `run_manager`."""

    _child = AsyncCallbackManager

    def get_sync(self) -> CallbackManagerForToolRun:
        """Return the same run for sync code."""
        return CallbackManagerForToolRun(
            run_id=self.run_id,
            handlers=self.handlers,
            inheritable_handlers=self.inheritable_handlers,
            parent_run_id=self.parent_run_id,
            tags=self.tags,
            metadata=self.metadata,
        )

    async def on_text(self, text: str, **kwargs: Any) -> None:
        """Pass a text to the tool's callback handlers with `on_text`."""
        for listener in self._list_listeners("on_text"):
            try:
                heard = listener(text, **self._say(kwargs))
                if inspect.isawaitable(heard):
                    await heard
            except Exception:
                logger.warning("a callback (on_text) failed", exc_info=True)
