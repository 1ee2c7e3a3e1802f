"""`sidecall check` warns of calls that hold up the event loop."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli

pytestmark = pytest.mark.usefixtures("here")

_TOP = """
import asyncio, concurrent.futures, functools, os, queue, select, subprocess, threading, time, urllib.request
import httpx, requests
from subprocess import check_output
from time import sleep as pause
from typing import Any
from urllib.request import urlopen
from sidecall import BaseTool, guarded_client, tool

SESSION = requests.Session()

class Own(httpx.Client):
    pass

OWN = Own()

def open_session() -> requests.Session:
    return requests.Session()

def ask(url: str) -> bytes:
    return ask_deeper(url)

def ask_deeper(url: str) -> bytes:
    return urllib.request.urlopen(url).read()

def wait_first(function):
    @functools.wraps(function)
    def wrapped(*args):
        time.sleep(1)
        return function(*args)
    return wrapped

def threaded(function):
    @functools.wraps(function)
    async def wrapped(*args):
        return await asyncio.to_thread(function, *args)
    return wrapped

@wait_first
def hurry(x: str) -> str:
    return x

@threaded
def ask_in_thread(x: str) -> bytes:
    return ask(x)

@functools.cache
def remember(x: str) -> bytes:
    return ask(x)

class Api:
    def __init__(self) -> None:
        self.session = requests.Session()

    def find(self, x: str) -> Any:
        return self.session.get(x)

    @classmethod
    def wait(cls) -> None:
        time.sleep(1)

    def ask(self, x: str) -> Any:
        return self._ask(x)

    def _ask(self, x: str) -> Any:
        return requests.get(x)

    def __call__(self) -> None:
        time.sleep(1)

class Slow:
    def __init__(self) -> None:
        time.sleep(1)

API = Api()
LATER = lambda: time.sleep(1)
WAIT = functools.partial(time.sleep, 1)

async def ask_later(url: str) -> bytes:
    return ask(url)

"""


def _check(code: str) -> list[tuple[str, str]]:
    """Return of each call that is warned of its name, and through which functions it is made."""
    Path("tools").mkdir()
    Path("tools/one.py").write_text(_TOP + code)
    printed = CliRunner().invoke(cli, ["check"]).output
    return re.findall(r"calls `([\w.]+)` on the event loop \(line \d+(?:, in `([^`]+)`)?\)", printed)


def _tool(body: str, head: str = "@tool\nasync def one(x: str) -> Any") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f'{head}:\n    """One.\n\n    Args:\n        x: What.\n    """\n{lines}\n'


@pytest.mark.parametrize(
    ("body", "name", "through"),
    [
        ("time.sleep(1)", "time.sleep", ""),
        ("pause(1)", "time.sleep", ""),
        ("import time as t\nt.sleep(1)", "time.sleep", ""),
        ("from time import sleep\nsleep(1)", "time.sleep", ""),
        ("if x:\n    for _ in x:\n        time.sleep(1)", "time.sleep", ""),
        ("return [time.sleep(1) for _ in x]", "time.sleep", ""),
        ("try:\n    pass\nfinally:\n    time.sleep(1)", "time.sleep", ""),
        ("return requests.get(x).json()", "requests.get", ""),
        ("return requests.request('GET', x)", "requests.request", ""),
        ("return SESSION.post(x)", "requests.Session.post", ""),
        ("return requests.Session().get(x)", "requests.Session.get", ""),
        ("with requests.Session() as s:\n    s.put(x)", "requests.Session.put", ""),
        ("return open_session().get(x)", "requests.Session.get", ""),
        ("return httpx.get(x)", "httpx.get", ""),
        ("with httpx.Client() as c:\n    c.get(x)", "httpx.Client.get", ""),
        ("c = httpx.Client()\nreturn c.send(x)", "httpx.Client.send", ""),
        ("return OWN.get(x)", "httpx.Own.get", ""),
        ("with guarded_client() as c:\n    c.get(x)", "httpx.Client.get", ""),
        ("return urllib.request.urlopen(x)", "urllib.request.urlopen", ""),
        ("return urlopen(x)", "urllib.request.urlopen", ""),
        ("return subprocess.run([x])", "subprocess.run", ""),
        ("return check_output([x])", "subprocess.check_output", ""),
        ("return os.system(x)", "os.system", ""),
        ("return os.popen(x).read()", "os.popen", ""),
        ("return input(x)", "input", ""),
        ("return queue.Queue().get()", "queue.Queue.get", ""),
        ("threading.Event().wait()", "threading.Event.wait", ""),
        ("import socket\nreturn socket.create_connection((x, 80))", "socket.create_connection", ""),
        (
            "import http.client as h\nh.HTTPSConnection(x).request('GET', '/')",
            "http.client.HTTPSConnection.request",
            "",
        ),
        ("return ask(x)", "urllib.request.urlopen", "ask > ask_deeper"),
        ("return await ask_later(x)", "urllib.request.urlopen", "ask_later > ask > ask_deeper"),
        ("def inner():\n    time.sleep(1)\ninner()", "time.sleep", "inner"),
        ("return hurry(x)", "time.sleep", "hurry"),
        ("return remember(x)", "urllib.request.urlopen", "remember > ask > ask_deeper"),
        ("return API.find(x)", "requests.Session.get", "Api.find"),
        ("return Api().ask(x)", "requests.get", "Api.ask > Api._ask"),
        ("Api.wait()", "time.sleep", "Api.wait"),
        ("API()", "time.sleep", "Api"),
        ("Slow()", "time.sleep", "Slow"),
        ("LATER()", "time.sleep", "<lambda>"),
        ("later = lambda: time.sleep(1)\nlater()", "time.sleep", "lambda"),
        ("WAIT()", "time.sleep", ""),
        ("functools.partial(requests.get, x)()", "requests.get", ""),
        ("return requests.session().get(x)", "requests.Session.get", ""),
        ("return urllib.request.build_opener().open(x)", "urllib.OpenerDirector.open", ""),
        ("p = concurrent.futures.ThreadPoolExecutor()\np.submit(ask, x).result()", "concurrent.Future.result", ""),
        ("queue.Queue().get(timeout=3)", "queue.Queue.get", ""),
        ("import sqlite3\nsqlite3.connect(x).execute('')", "sqlite3.connect", ""),
        ("import redis\nredis.Redis().get(x)", "redis.Redis.get", ""),
        ("import openai\nc = openai.OpenAI()\nc.responses.create()", "openai.OpenAI.responses.create", ""),
        ("import xmlrpc.client as r\nr.ServerProxy(x).add(1)", "xmlrpc.client.ServerProxy.add", ""),
        ("import shutil\nshutil.rmtree(x)", "shutil.rmtree", ""),
    ],
)
def test_calls_that_block_are_warned_of(body: str, name: str, through: str) -> None:
    """By any name, however deep, and in the author's own functions."""
    assert (name, through) in _check(_tool(body))


@pytest.mark.parametrize(
    "body",
    [
        "await asyncio.sleep(1)",
        "await asyncio.to_thread(time.sleep, 1)",
        "await asyncio.to_thread(lambda: requests.get(x))",
        "await asyncio.get_running_loop().run_in_executor(None, ask, x)",
        "def inner():\n    time.sleep(1)\nawait asyncio.to_thread(inner)",
        "async with httpx.AsyncClient() as c:\n    await c.get(x)",
        "return {}.get(x)",
        "time = asyncio\nawait time.sleep(1)",
        "await asyncio.Event().wait()",
        "return await asyncio.Queue().get()",
        "return unknown.get(x)",
        "return await ask_in_thread(x)",
        "await asyncio.to_thread(API.find, x)",
        "await asyncio.to_thread(LATER)",
        "later = functools.partial(requests.get, x)\nawait asyncio.to_thread(later)",
        "queue.Queue().get(block=False)",
        "queue.Queue().get(False)",
        "queue.Queue().put(x)",
        "threading.Event().wait(0)",
        "select.select([], [], [], 0)",
        "concurrent.futures.ThreadPoolExecutor().submit(ask, x)",
        "await asyncio.wrap_future(concurrent.futures.ThreadPoolExecutor().submit(ask, x))",
        "import redis.asyncio\nreturn await redis.asyncio.Redis().get(x)",
        "import openai\nreturn await openai.AsyncOpenAI().responses.create()",
        "import openai\nopenai.OpenAI()",
    ],
)
def test_what_lets_others_go_on_is_not(body: str) -> None:
    """No matter what it is called."""
    assert _check(_tool(body)) == []


@pytest.mark.parametrize(
    ("head", "is_warned"),
    [
        ("@tool\nasync def one(x: str) -> Any", True),
        ("@tool(executor='inline')\ndef one(x: str) -> Any", True),
        ("@tool(executor='thread')\nasync def one(x: str) -> Any", False),
        ("@tool\ndef one(x: str) -> Any", False),
    ],
)
def test_only_tools_on_the_event_loop_are_looked_at(head: str, is_warned: bool) -> None:
    """In a thread a tool may wait."""
    assert bool(_check(_tool("time.sleep(1)", head))) is is_warned


def test_methods_of_classes_are_looked_at() -> None:
    """With those that they call."""
    code = """
class Fetch(BaseTool):
    name: str = "fetch"
    description: str = "Fetch."

    def _fetch(self, x: str) -> str:
        return requests.get(x).text

    async def _arun(self, x: str) -> str:
        return self._fetch(x)

fetch = Fetch()
"""
    assert _check(code) == [("requests.get", "Fetch._fetch")]


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("tool_input_guardrails=[judge]", "tool_input_guardrails"),
        ("tool_output_guardrails=[tool_output_guardrail(judge)]", "tool_output_guardrails"),
        ("requires_approval=judge", "requires_approval"),
        ("is_enabled=judge", "is_enabled"),
        ("handle_tool_error=judge", "handle_tool_error"),
        ("handle_validation_error=judge", "handle_validation_error"),
        ("failure_error_function=judge", "failure_error_function"),
        ("timeout_error_function=judge", "timeout_error_function"),
    ],
)
@pytest.mark.parametrize("kind", ["def one", "async def one"])
def test_what_stands_around_a_tool_is_looked_at(option: str, named: str, kind: str) -> None:
    """It runs on the event loop wherever the tool does."""
    judge = (
        "\nfrom sidecall import tool_output_guardrail\n\ndef judge(*asked):\n    return requests.get('http://x')\n\n"
    )
    Path("tools").mkdir()
    Path("tools/one.py").write_text(_TOP + judge + _tool("return x", f"@tool({option})\n{kind}(x: str) -> Any"))

    (warned,) = re.findall(r"its `(\w+)` calls `requests.get` on the", CliRunner().invoke(cli, ["check"]).output)
    assert warned == named


def test_an_object_that_has_every_attribute_is_let_be() -> None:
    """As proxies have."""
    proxy = """
class Proxy:
    def __getattr__(self, name):
        return self

    def __call__(self, *asked):
        return True

PROXY = Proxy()

"""
    code = proxy + _tool("return PROXY.ask(x)", "@tool(is_enabled=PROXY)\nasync def one(x: str) -> Any")
    assert _check(code) == []
