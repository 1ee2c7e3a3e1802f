"""The plugin for pytest, in runs of pytest of its own."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bench.environments import ROOT

pytest_plugins = ["pytester"]

TOOLS = '''
import os

from sidecall import ToolContext, tool


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def remember(word: str, context: ToolContext) -> str:
    """Remember a word, and list those that were."""
    known = [item.key for item in await context.store.asearch(("words",))]
    await context.store.aput(("words",), word, {"there": True})
    return " ".join(known) or "none"


@tool
def read_variable(name: str) -> str:
    """Read a variable."""
    return os.environ.get(name, "none")
'''


# What a user writes, with each form of the marker.
MARKED = '''
import asyncio
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

import my_tools
from my_tools import add, remember
from sidecall import tool


@tool
async def hang() -> str:
    """Hang."""
    await asyncio.sleep(60)
    return ""


@pytest.mark.sidecall_tools("my_tools.py", max_batch=2)
def test_a_file_and_a_setting(sidecall_server, sidecall_client, monkeypatch):
    assert str(sidecall_server) == sidecall_server.url == f"http://127.0.0.1:{sidecall_server.port}"
    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "c"}
    assert httpx.post(sidecall_server + "/tool_calls", json=call).json()["content"] == "3"
    assert httpx.post(sidecall_server + "/tool_calls/batch", json=[call] * 3).status_code == 422
    monkeypatch.setenv("MINE", "seen")
    assert sidecall_client.call("read_variable", {"name": "MINE"}).content == "seen"


@pytest.mark.sidecall_tools(add, hang, tool_timeout=0.05)
def test_objects(sidecall_client):
    assert [it["function"]["name"] for it in sidecall_client.tools()] == ["add", "hang"]
    assert sidecall_client.call("hang").failure.kind == "timeout"


@pytest.mark.sidecall_tools("acme.extra", Path("my_tools.py").absolute().parent / "my_tools.py")
@pytest.mark.xfail(raises=Exception, strict=True)
def test_two_tools_of_one_name(sidecall_server):
    pass


@pytest.mark.sidecall_tools("acme.extra")
def test_a_module_by_its_name(sidecall_client):
    assert "plus" in [it["function"]["name"] for it in sidecall_client.tools()]


@pytest.mark.sidecall_tools(my_tools)
@pytest.mark.parametrize("word", ["a", "b"])
def test_nothing_is_kept_between_tests(sidecall_client, word):
    assert sidecall_client.call("remember", {"word": word}).content == "none"


@pytest.mark.sidecall_tools([remember])
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_application_in_async_tests(sidecall_app):
    transport = httpx.ASGITransport(app=sidecall_app)
    async with httpx.AsyncClient(transport=transport, base_url="http://any.name") as client:
        calls = [{"name": "remember", "args": {"word": word}, "id": word} for word in ("a", "b")]
        said = [(await client.post("/tool_calls", json=call)).json()["content"] for call in calls]
        assert said == ["none", "a"]


@pytest.mark.sidecall_tools(remember)
def test_the_application_in_sync_tests(sidecall_app):
    with TestClient(sidecall_app) as client:
        call = {"name": "remember", "args": {"word": "a"}, "id": "c"}
        assert client.post("/tool_calls", json=call).json()["content"] == "none"
    with TestClient(sidecall_app) as client:
        assert client.post("/tool_calls", json=call).json()["content"] == "a"
'''


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with tools, where nothing but our plugin, and anyio's, is loaded."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(my_tools=TOOLS)
    return pytester


def run(project: pytest.Pytester, *options: str) -> pytest.RunResult:
    """Run the tests of a folder as a user does."""
    plugins = ("-p", "anyio.pytest_plugin", "-p", "sidecall.testing.plugin", "-p", "no:cacheprovider")
    return project.runpytest_subprocess(*plugins, "-W", "error", *options)


def test_servers_have_the_tools_and_settings_of_the_marker(project: pytest.Pytester) -> None:
    """Files, modules and objects; each test has a server of its own, in its own process."""
    project.mkpydir("acme")
    (project.path / "acme/extra.py").write_text(TOOLS.replace("def add", "def plus"))
    project.makepyfile(MARKED)

    result = run(project)

    result.assert_outcomes(passed=7, xfailed=1)


def test_tools_come_from_the_ini_file_and_a_fixture(project: pytest.Pytester) -> None:
    """A fixture of the user's comes before; without any, tools are found as `sidecall serve` finds them."""
    project.makeini("[pytest]\nsidecall_tools = my_tools.py\nsidecall_scope = module")
    project.mkdir("inner")
    (project.path / "inner/test_ini.py").write_text(
        "def test_first(sidecall_client):\n"
        "    assert sidecall_client.call('remember', {'word': 'a'}).content == 'none'\n\n"
        "def test_second(sidecall_client):\n"
        "    assert sidecall_client.call('remember', {'word': 'b'}).content == 'a'\n"
    )
    (project.path / "inner/test_mark.py").write_text(
        "import pytest\n\n@pytest.mark.sidecall_tools('other.py')\ndef test_it(sidecall_client): pass\n"
    )
    (project.path / "inner/test_fixture.py").write_text(
        "import pytest\nfrom my_tools import add\n\n"
        "@pytest.fixture(scope='module')\ndef sidecall_tools():\n    return [add]\n\n"
        "@pytest.fixture(scope='module')\ndef sidecall_settings():\n    return {'docs': False}\n\n"
        "def test_names(sidecall_client, sidecall_server):\n"
        "    import httpx\n"
        "    assert [it['function']['name'] for it in sidecall_client.tools()] == ['add']\n"
        "    assert httpx.get(sidecall_server + '/docs').status_code == 404\n"
    )

    result = run(project, "--import-mode=importlib", "-o", "pythonpath=.")

    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*sidecall_scope is module: put the marker sidecall_tools there, not at a test*"])


def test_what_cannot_be_served_is_said(project: pytest.Pytester) -> None:
    """At the test that asks for it."""
    marks = ["'missing.py'", "[len]", "'my_tools.py', tool_timout=1"]
    tests = [
        f"@pytest.mark.sidecall_tools({mark})\ndef test_{number}(sidecall_server): pass\n"
        for number, mark in enumerate(marks)
    ]
    project.makepyfile("\n".join(["import pytest\n", *tests]))

    result = run(project)

    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        [
            "*There is no file or folder 'missing.py'*",
            "*is neither a place of tools nor a tool*",
            "*tool_timout*",
        ]
    )


def test_a_wrong_scope_is_refused(project: pytest.Pytester) -> None:
    """With those that there are."""
    project.makeini("[pytest]\nsidecall_scope = test")
    project.makepyfile("def test_it(): pass")

    result = run(project)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*sidecall_scope is 'test': write one of session, package, module, class, function*"])


def test_tests_that_use_none_pay_for_none(project: pytest.Pytester) -> None:
    """The plugin is loaded in every project where Sidecall is installed."""
    project.makepyfile(
        "import sys\n\n"
        "def test_it():\n"
        "    ours = {name for name in sys.modules if name.partition('.')[0] == 'sidecall'}\n"
        "    assert ours == {'sidecall', 'sidecall.version', 'sidecall.testing',"
        " 'sidecall.testing.plugin'}\n"
        "    assert not {'httpx', 'pydantic', 'fastapi', 'uvicorn'} & sys.modules.keys()\n"
    )

    result = run(project, "-p", "no:anyio.pytest_plugin")

    result.assert_outcomes(passed=1)


def test_the_kit_needs_no_pytest() -> None:
    """Other runners of tests use it, too; and `import sidecall` loads nothing of it."""
    code = (
        "import sys; sys.modules['pytest'] = None; import sidecall\n"
        "assert not [name for name in sys.modules if name.startswith('sidecall.testing')]\n"
        "import sidecall.testing as kit; [getattr(kit, name) for name in kit.__all__]"
    )

    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=ROOT / "app")


def test_pytest_finds_the_plugin() -> None:
    """By the entry point of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["entry-points"]["pytest11"] == {"sidecall": "sidecall.testing.plugin"}
    assert Path(ROOT / "app/sidecall/testing/plugin.py").is_file()
