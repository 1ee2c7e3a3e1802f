"""The arguments of a LangChain class without args_schema are its method's; none stands for `*args` or `**kwargs`."""

from typing import Annotated, Any

import pytest
from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg

from sidecall import StructuredTool, tool
from tests.kit.calls import run


class Plain(BaseTool):
    """Be told how to run."""

    name: str = "it"
    description: str = "Run."

    def _run(self, q: str, limit: int = 3) -> str:
        return f"{q} {limit}"


class Both(Plain):
    """Take more than is named."""

    def _run(self, q: str, *args: Any, **kwargs: Any) -> str:  # type: ignore[override]
        return f"{q} {args} {kwargs}"


class Named(Plain):
    """Call them otherwise."""

    def _run(self, q: str, *rest: int, **extra: Any) -> str:  # type: ignore[override]
        return f"{q} {rest} {extra}"


class Positional(Plain):
    """Take more by position, which no call has."""

    def _run(self, q: str, *rest: int) -> str:  # type: ignore[override]
        return f"{q} {rest}"


class Anything(Plain):
    """Name nothing."""

    def _run(self, *args: Any, **kwargs: Any) -> str:  # type: ignore[override]
        return f"{args} {kwargs}"


class Managed(Plain):
    """Name what LangChain fills, too."""

    def _run(  # type: ignore[override]
        self,
        q: str,
        *args: Any,
        config: RunnableConfig,
        run_manager: CallbackManagerForToolRun | None = None,
        **kwargs: Any,
    ) -> str:
        return f"{q} {args} {kwargs} {config['configurable']} {run_manager is not None}"


class TwoWays(Plain):
    """Be async as well."""

    def _run(self, q: str, *args: Any, **kwargs: Any) -> str:  # type: ignore[override]
        return f"{q} {args} {kwargs}"

    async def _arun(self, q: str, *args: Any, **kwargs: Any) -> str:
        return f"async {q} {args} {kwargs}"


class OnlyAsync(Plain):
    """Refuse to be sync, by a method that names nothing."""

    def _run(self, *args: Any, **kwargs: Any) -> str:
        raise NotImplementedError

    async def _arun(self, q: str, limit: int = 2, **kwargs: Any) -> str:
        return f"async {q} {limit} {kwargs}"


class Real(Plain):
    """Have parameters of these names."""

    def _run(self, q: str, args: list[int] | None = None, kwargs: dict[str, int] | None = None) -> str:  # type: ignore[override]
        return f"{q} {args} {kwargs}"


class Hidden(Plain):
    """Hide one."""

    def _run(self, q: str, user: Annotated[str, InjectedToolArg], **kwargs: Any) -> str:  # type: ignore[override]
        return f"{q} {user} {kwargs}"


@pytest.mark.parametrize(
    ("made", "args"),
    [
        pytest.param(Plain(), {"q": "x"}, id="plain"),
        pytest.param(Both(), {"q": "x"}, id="both"),
        pytest.param(Both(), {"q": "x", "z": 1, "y": None}, id="both, with more"),
        pytest.param(Named(), {"q": "x"}, id="other names"),
        pytest.param(Named(), {"q": "x", "args": [1]}, id="other names, with more"),
        pytest.param(Positional(), {"q": "x"}, id="by position"),
        pytest.param(Anything(), {}, id="nothing named"),
        pytest.param(Anything(), {"a": 1}, id="nothing named, with more"),
        pytest.param(Managed(), {"q": "x"}, id="filled"),
        pytest.param(Managed(), {"q": "x", "z": [1]}, id="filled, with more"),
        pytest.param(TwoWays(), {"q": "x"}, id="async"),
        pytest.param(TwoWays(), {"q": "x", "z": 1}, id="async, with more"),
        pytest.param(OnlyAsync(), {"q": "x", "limit": 1}, id="async alone"),
        pytest.param(OnlyAsync(), {"q": "x", "limit": 1, "z": 1}, id="async alone, with more"),
        pytest.param(Real(), {"q": "x"}, id="parameters"),
        pytest.param(Real(), {"q": "x", "args": [1], "kwargs": {"z": 1}}, id="parameters, sent"),
    ],
)
async def test_its_method_gets_what_it_gets_at_home(made: Any, args: dict[str, Any]) -> None:
    """Nothing is made up for what was not sent."""
    home = await made.ainvoke(dict(args))

    assert (await run(tool(made), args)).content == home


async def test_hidden_ones_are_not_among_those_that_kwargs_take() -> None:
    """No matter what the model sends."""
    message = await run(tool(Hidden()), {"q": "x", "user": "forged", "z": 1}, context={"user": "ada"})

    assert message.content == "x ada {'z': 1}"
    assert message.response_metadata["ignored_args"] == ["user"]


@pytest.mark.parametrize(
    ("made", "shown", "more"),
    [
        (tool(Plain()), ["q", "limit"], None),
        (tool(Both()), ["q"], True),
        (tool(Named()), ["q"], True),
        (tool(Positional()), ["q"], None),
        (tool(Anything()), [], True),
        (tool(Managed()), ["q"], True),
        (tool(OnlyAsync()), ["q", "limit"], True),
        (tool(Real()), ["q", "args", "kwargs"], None),
        (tool(Hidden()), ["q"], True),
    ],
    ids=lambda it: it.name if isinstance(it, StructuredTool) else "",
)
def test_what_it_takes_is_shown(made: StructuredTool, shown: list[str], more: bool | None) -> None:
    """With whether there may be more."""
    schema = made.compiled.args_schema.flat

    assert (list(schema["properties"]), schema.get("additionalProperties")) == (shown, more)
