"""Subclasses of StructuredTool, Tool and BaseTool that hand on to the class they come from."""

from typing import Any, Optional

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, Tool, ToolException


class Loud(StructuredTool):
    def _run(
        self,
        *args: Any,
        config: RunnableConfig,
        run_manager: Optional[CallbackManagerForToolRun] = None,
        **kwargs: Any,
    ) -> Any:
        return str(super()._run(*args, config=config, run_manager=run_manager, **kwargs)).upper()


class Deep(Loud):
    def _run(self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kwargs: Any) -> Any:
        return f"<{super()._run(*args, config=config, run_manager=run_manager, **kwargs)}>"


class Later(StructuredTool):
    async def _arun(
        self,
        *args: Any,
        config: RunnableConfig,
        run_manager: Optional[AsyncCallbackManagerForToolRun] = None,
        **kwargs: Any,
    ) -> Any:
        return f"later {await super()._arun(*args, config=config, run_manager=run_manager, **kwargs)}"


class Both(StructuredTool):
    def _run(self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kwargs: Any) -> Any:
        return f"run {super()._run(*args, config=config, run_manager=run_manager, **kwargs)}"

    async def _arun(self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kwargs: Any) -> Any:
        return f"arun {await super()._arun(*args, config=config, run_manager=run_manager, **kwargs)}"


class Elsewhere(StructuredTool):
    def _run(self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kwargs: Any) -> Any:
        config = {**config, "configurable": {"user_id": "another"}}
        return super()._run(*args, config=config, run_manager=run_manager, **kwargs)


class Audited(StructuredTool):
    def _run(self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kwargs: Any) -> Any:
        try:
            return super()._run(*args, config=config, run_manager=run_manager, **kwargs)
        except ZeroDivisionError as error:
            raise ToolException(f"noted: {error}") from error


class LoudText(Tool):
    def _run(
        self,
        *args: Any,
        config: RunnableConfig,
        run_manager: Optional[CallbackManagerForToolRun] = None,
        **kwargs: Any,
    ) -> Any:
        return str(super()._run(*args, config=config, run_manager=run_manager, **kwargs)).upper()


class Plain(BaseTool):
    name: str = "plain"
    description: str = "Say what was asked."

    def _run(self, q: str, run_manager: Optional[CallbackManagerForToolRun] = None) -> str:
        return f"asked {q}"

    async def _arun(self, q: str, run_manager: Optional[AsyncCallbackManagerForToolRun] = None) -> str:
        return await super()._arun(q, run_manager=run_manager)


def greet(name: str, greeting: str = "hello") -> str:
    """Greet somebody."""
    return f"{greeting} {name}"


async def greet_later(name: str, greeting: str = "hello") -> str:
    """Greet somebody."""
    return f"{greeting} {name}"


def whose(key: str, config: RunnableConfig) -> str:
    """Say whose it is."""
    return f"{key} {config['configurable'].get('user_id')}"


def whose_too(key: str, settings: RunnableConfig) -> str:
    """Say whose it is."""
    return f"{key} {settings['configurable'].get('user_id')}"


def heard(key: str, callbacks: Any = None) -> str:
    """Say whether anybody listens."""
    return f"{key} {type(callbacks).__name__}"


def divide(a: int, b: int = 2) -> float:
    """Divide."""
    return a / b


def shout(text: str) -> str:
    """Shout."""
    return f"{text}!"


loud = Loud.from_function(greet, name="loud")
deep = Deep.from_function(greet, name="deep")
loud_config = Loud.from_function(whose, name="loud_config")
loud_settings = Loud.from_function(whose_too, name="loud_settings")
loud_callbacks = Loud.from_function(heard, name="loud_callbacks")
later = Later.from_function(coroutine=greet_later, name="later")
later_sync = Later.from_function(greet, name="later_sync")
both = Both.from_function(greet, name="both")
both_later = Both.from_function(coroutine=greet_later, name="both_later")
elsewhere = Elsewhere.from_function(whose, name="elsewhere")
elsewhere_too = Elsewhere.from_function(whose_too, name="elsewhere_too")
audited = Audited.from_function(divide, name="audited", handle_tool_error=True)
loud_text = LoudText(name="loud_text", func=shout, description="Shout.")
plain = Plain()
