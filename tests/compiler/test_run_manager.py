"""A tool's own callback handlers hear of what it says on its run."""

from typing import Any

import pytest

from sidecall import (
    AsyncCallbackHandler,
    AsyncCallbackManagerForToolRun,
    BaseCallbackHandler,
    BaseTool,
    CallbackManagerForToolRun,
    Callbacks,
    tool,
)
from tests.kit.calls import run


class Listener(BaseCallbackHandler):
    """Remember texts."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_text(self, text: str, **details: Any) -> None:
        """Remember one."""
        self.heard.append((text, str(details["run_id"]), details["tags"]))
        if text == "crash":
            raise ValueError("on purpose")


class AsyncListener(AsyncCallbackHandler, Listener):
    """Do so later."""

    async def on_text(self, text: str, **details: Any) -> None:  # type: ignore[override]
        """Remember one."""
        Listener.on_text(self, text, **details)


def speak(text: str, run_manager: CallbackManagerForToolRun | None = None) -> str:
    """Speak."""
    assert run_manager is not None
    run_manager.on_text(text)
    return str(run_manager.run_id)


async def aspeak(text: str, run_manager: AsyncCallbackManagerForToolRun) -> str:
    """Speak."""
    await run_manager.on_text(text)
    run_manager.get_sync().on_text("again")
    return str(run_manager.run_id)


@pytest.mark.parametrize("text", ["hello", "crash"])
async def test_texts_reach_the_handlers(text: str) -> None:
    """With the run's id, whether a handler crashes or not; async ones hear what async tools say."""
    listener, later = Listener(), AsyncListener()
    options: dict[str, Any] = {"callbacks": [listener, later], "tags": ["t"]}

    sync = await run(tool("speak", **options)(speak), {"text": text})
    told = await run(tool("aspeak", **options)(aspeak), {"text": text})

    assert (sync.content, told.content) == (sync.id, told.id)
    assert listener.heard == [(text, sync.id, ["t"]), (text, told.id, ["t"]), ("again", told.id, ["t"])]
    assert later.heard == [(text, told.id, ["t"])]


async def test_children_inherit_the_handlers() -> None:
    """As the runnables that a tool calls take them."""
    listener = Listener()

    @tool(callbacks=[listener], tags=["t"], metadata={"m": 1})
    def ask(callbacks: Callbacks, run_manager: Any) -> list[Any]:
        """Ask."""
        child = run_manager.get_child("deep")
        assert callbacks.handlers == child.copy().handlers == [listener]
        child.add_handler("other")
        child.remove_handler(listener)
        return [child.handlers, child.tags, child.inheritable_tags, child.metadata, str(child.parent_run_id)]

    message = await run(ask)

    assert message.content == f'[["other"], ["t", "deep"], ["t"], {{"m": 1}}, "{message.id}"]'


@pytest.mark.parametrize("kind", [CallbackManagerForToolRun, AsyncCallbackManagerForToolRun])
def test_nobody_need_listen(kind: Any) -> None:
    """For tests of a function alone."""
    assert kind.get_noop_manager().handlers == []


class Both(BaseTool):
    """Be written as the documentation of LangChain teaches."""

    name: str = "both"

    def _run(self, a: int, run_manager: CallbackManagerForToolRun | None = None) -> str:
        return f"{a} {type(run_manager).__name__}"

    async def _arun(self, a: int, run_manager: AsyncCallbackManagerForToolRun | None = None) -> str:
        assert run_manager is not None
        return self._run(a, run_manager=run_manager.get_sync())


class Refusing(Both):
    """Have a method that only says that there is none."""

    name: str = "refusing"

    async def _arun(self, a: int, run_manager: AsyncCallbackManagerForToolRun | None = None) -> str:
        """Use the tool asynchronously."""
        raise NotImplementedError("refusing does not support async")


@pytest.mark.parametrize("made", [Both(), Refusing()])
async def test_a_class_gets_its_run(made: BaseTool) -> None:
    """In the method that serves; what a model sends for it is dropped."""
    message = await run(made, {"a": 1, "run_manager": "forged"})

    assert message.content == "1 CallbackManagerForToolRun"
    assert message.response_metadata["ignored_args"] == ["run_manager"]
