"""Run a LangChain tool as its author intends: by its async method, or else its sync one."""

import functools
import inspect
from typing import Any

from sidecall.features.approvals.questions import list_named
from sidecall.kernel.authoring.methods import only_refuses
from sidecall.kernel.schema.foreign import is_instance_of

_PACKAGE = "langchain_core"


def make_runnable(it: Any) -> Any:
    """Return the tool, or a copy that leaves invalid arguments to us and runs `_run` where there is no async method.

    The copy runs the methods of the original, so that state changes are shared.
    """
    # The arguments have been checked: what fails to validate now is no fault of theirs, but of the tool's own code.
    runs = it.model_copy(update={"handle_validation_error": False}) if it.handle_validation_error else it
    written = _find_async(it)
    if written is None:
        return runs
    runs = it.model_copy() if runs is it else runs
    # Past pydantic, which knows fields only. LangChain looks the method up on the instance.
    vars(runs)["_arun"] = _run_sync(it) if only_refuses(written) else _fall_back(it, written)
    return runs


def find_lost(it: Any) -> tuple[str, ...]:
    """List what a tool calls that only works in a running graph: LangGraph's `@task` functions."""
    written = [one for one in (getattr(it, "func", None), getattr(it, "coroutine", None)) if one is not None]
    named = [(name, value) for one in written or [it] for name, value in list_named(one).items()]
    tasks = dict.fromkeys(name for name, value in named if is_instance_of(value, "langgraph", "_TaskFunction"))
    return tuple(f"{name}, a task, runs only in an entrypoint of LangGraph; call a plain function" for name in tasks)


def _find_async(it: Any) -> Any:
    """Return the author's async method, or None if LangChain would run `_run`."""
    method = type(it)._arun
    if method.__module__.partition(".")[0] != _PACKAGE:
        return it._arun
    return getattr(it, "coroutine", None)


def _run_sync(it: Any) -> Any:
    """Wrap `_run` as an async method, with what LangChain injects in its parameters."""
    run = _find_default(it)

    @functools.wraps(it._run)
    async def arun(*args: Any, **kwargs: Any) -> Any:
        return await run(it, *args, **kwargs)

    return arun


def _fall_back(it: Any, written: Any) -> Any:
    """Wrap an async method to fall back to `_run` when the author's own raises NotImplementedError."""
    run, method = _find_default(it), it._arun
    own = getattr(inspect.unwrap(written), "__code__", None)
    taken = inspect.signature(it._run).parameters
    takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())

    @functools.wraps(method)
    async def arun(*args: Any, **kwargs: Any) -> Any:
        try:
            return await method(*args, **kwargs)
        except NotImplementedError as error:
            if _find_code(error) is not own:
                raise
        known = kwargs if takes_all else {name: value for name, value in kwargs.items() if name in taken}
        return await run(it, *args, **known)

    return arun


def _find_default(it: Any) -> Any:
    """Return LangChain's own async method, which runs `_run` in a thread."""
    return next(
        vars(kind)["_arun"]
        for kind in reversed(type(it).__mro__)
        if kind.__module__.partition(".")[0] == _PACKAGE and "_arun" in vars(kind)
    )


def _find_code(error: BaseException) -> Any:
    """Return the function that has raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else trace.tb_frame.f_code
