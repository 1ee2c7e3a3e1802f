"""The plugin for pytest: fixtures with a server, a client of it, and its application.

pytest loads this module in every project where Sidecall is installed, so it loads nothing else until a fixture is used.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import pytest

if TYPE_CHECKING:
    import sidecall.client as _client
    import sidecall.testing.bridge as _bridge
    import sidecall.testing.serving as _serving

# Loaded by their names, since pytest looks into all that stands in a plugin.
_CLIENT = "sidecall.client"
_SERVING = "sidecall.testing.serving"
_MARK = "sidecall_tools"
_SCOPE = "sidecall_scope"
_Scope = Literal["session", "package", "module", "class", "function"]
_SCOPES = ("session", "package", "module", "class", "function")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the ini file."""
    parser.addini(
        _MARK,
        "Tools of the fixtures sidecall_server and sidecall_app: files and folders, as seen from this file, or modules",
        type="args",
    )
    parser.addini(
        _SCOPE,
        "How long one server serves: function (the default), class, module, package or session",
        default="function",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Add the marker, and check the scope.

    Raises:
        pytest.UsageError: There is no such scope.
    """
    scope = config.getini(_SCOPE)
    if scope not in _SCOPES:
        raise pytest.UsageError(f"{_SCOPE} is {scope!r}: write one of {', '.join(_SCOPES)}")
    config.addinivalue_line(
        "markers",
        f"{_MARK}(*tools, **settings): tools and settings of the fixtures sidecall_server, sidecall_client and "
        "sidecall_app",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marker at a test that shares its server with others, for whom it would count, too."""
    if any(mark.name == _MARK for mark in item.own_markers) and item.config.getini(_SCOPE) != "function":
        pytest.fail(f"{_SCOPE} is {item.config.getini(_SCOPE)}: put the marker {_MARK} there, not at a test", False)


def _choose_scope(fixture_name: str, config: pytest.Config) -> _Scope:  # noqa: ARG001  pytest passes it by name
    return cast("_Scope", config.getini(_SCOPE))


@pytest.fixture(scope=_choose_scope)
def sidecall_tools(request: pytest.FixtureRequest) -> Any:
    """The tools to serve: those of the marker, or of the ini file, or those that `sidecall serve` finds.

    Override this fixture to return tools, or places as `sidecall serve --tools` takes them.
    """
    mark = request.node.get_closest_marker(_MARK)
    if mark is not None and mark.args:
        folder = getattr(request.node, "path", request.config.rootpath)
        return [_find(tool, folder if folder.is_dir() else folder.parent) for tool in mark.args]
    places = request.config.getini(_MARK)
    root = request.config.inipath.parent if request.config.inipath is not None else request.config.rootpath
    return [_find(place, root) for place in places] or None


def _find(tool: Any, folder: Path) -> Any:
    """Return a place as seen from a folder, if it exists there; anything else unchanged."""
    if not isinstance(tool, str | Path):
        return tool
    return folder / tool if (folder / tool).exists() else tool


@pytest.fixture(scope=_choose_scope)
def sidecall_settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings of the server by their names in lower case: those of the marker; override this fixture for others."""
    mark = request.node.get_closest_marker(_MARK)
    return {} if mark is None else dict(mark.kwargs)


@pytest.fixture(scope=_choose_scope)
def sidecall_server(sidecall_tools: Any, sidecall_settings: dict[str, Any]) -> "Iterator[_serving.RunningServer]":
    """A server on a free port; its `url` is its address. It keeps what it remembers in memory, until the test ends."""
    with import_module(_SERVING).run_server(sidecall_tools, **sidecall_settings) as server:
        yield server


@pytest.fixture(scope=_choose_scope)
def sidecall_client(sidecall_server: "_serving.RunningServer") -> "Iterator[_client.Sidecall]":
    """A client of `sidecall_server`."""
    with import_module(_CLIENT).Sidecall(sidecall_server.url) as client:
        yield client


@pytest.fixture(scope=_choose_scope)
def sidecall_app(sidecall_tools: Any, sidecall_settings: dict[str, Any]) -> "Iterator[_bridge.BridgedApp]":
    """The ASGI application of a server, without a socket, for `httpx.ASGITransport(app=sidecall_app)`."""
    with import_module(_SERVING).run_app(sidecall_tools, **sidecall_settings) as app:
        yield app
