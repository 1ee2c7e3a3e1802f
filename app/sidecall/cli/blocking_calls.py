"""Find blocking calls, such as `time.sleep`, in code that runs on the event loop."""

import ast
import inspect
import linecache
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any

from sidecall.cli.namespaces import Namespace, Reference
from sidecall.kernel.core.tool import CompiledTool, Finding

# Functions of the author's that call each other, one inside the other.
_MOST_DEEP = 5

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef)
# Decorators, each around the next.
_MOST_WRAPPED = 20

_LAMBDA = "<lambda>"
# Options that are functions, and run on the event loop where they are not async either.
_FUNCTIONS = (
    "is_enabled",
    "requires_approval",
    "handle_tool_error",
    "handle_validation_error",
    "failure_error_function",
    "timeout_error_function",
)

_FOREIGN = frozenset(("site-packages", "dist-packages", "sidecall"))

_OURS = "sidecall."

_STANDARD = sysconfig.get_path("stdlib")


def find_blocking(tools: Iterable[CompiledTool]) -> Iterator[Finding]:
    """Warn of each blocking call in code on the event loop, also in the author's functions that it calls.

    This is the code of tools, unless they run elsewhere, and of functions in their options.
    """
    known: dict[tuple[str, int], list[str]] = {}  # Many tools may share a function, and all are there meanwhile.

    def search(function: Any, remedy: str) -> list[str]:
        key = remedy, id(function)
        if key not in known:
            known[key] = list(dict.fromkeys(_Search(remedy).look_into(function)))
        return known[key]

    for tool in tools:
        for option, function in _list_beside(tool):
            for text in search(function, "or make it async and await that"):
                yield Finding(tool.name, "warning", f"its `{option}` {text}")
        if tool.executor == "inline" and tool.options.command is None:
            for text in search(tool.function, 'or executor="thread"'):
                yield Finding(tool.name, "warning", text)


def _list_beside(tool: CompiledTool) -> Iterator[tuple[str, Any]]:
    """List the functions in a tool's options that run on the event loop, with any executor."""
    for name in _FUNCTIONS:
        value = getattr(tool.options, name)
        if callable(value):
            yield name, value
    for name in ("tool_input_guardrails", "tool_output_guardrails"):
        for guardrail in getattr(tool.options, name):
            yield name, guardrail.guardrail_function


@dataclass(frozen=True, slots=True)
class _Source:
    """The code of a function: its syntax tree, the offset of its lines, and its namespace."""

    body: Sequence[ast.AST]
    offset: int
    names: Namespace


class _Search:
    """A search through a function and those that it calls; `remedy` is the advice for all other calls."""

    def __init__(self, remedy: str) -> None:
        self._remedy = remedy
        self._seen: set[object] = set()

    def look_into(self, function: Any, path: tuple[str, ...] = (), own: Any = None) -> Iterator[str]:
        """Yield each blocking call and the functions through which it is made.

        `own` is the object whose method the function is, if it does not say so itself.
        """
        found, plain = _find_plain(function)
        if plain is None or plain.__code__ in self._seen or len(path) > _MOST_DEEP:
            return
        self._seen.add(plain.__code__)
        source = _read_source(plain, own if found is None else found)
        if source is not None:
            yield from self._look_at(source.body, source, {}, path)

    def _look_at(
        self, body: Sequence[ast.AST], source: _Source, outer: Mapping[str, _Function], path: tuple[str, ...]
    ) -> Iterator[str]:
        nested = dict(outer)  # Functions inside of functions, each looked at where it is called.
        awaited: set[ast.AST] = set()
        for node in _walk_in_order(body):
            source.names.note(node)
            if isinstance(node, _NESTED):
                nested[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                nested |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.Await):
                awaited.add(node.value)
            elif isinstance(node, ast.Call):
                inner = _find_nested(node.func, nested)
                if inner is not None:
                    yield from self._look_at(_read_body(inner), source, nested, (*path, _name_inner(inner)))
                else:
                    yield from self._look_at_call(node, source, path, is_awaited=node in awaited)

    def _look_at_call(
        self, call: ast.Call, source: _Source, path: tuple[str, ...], *, is_awaited: bool
    ) -> Iterator[str]:
        reference = source.names.resolve(call.func)
        blocks = None
        if not (reference is not None and reference.top in WAITING and _goes_on_at_once(call)):
            blocks = _advise(reference) or (None if is_awaited else _advise_member(call.func, source.names))
        if blocks is not None:
            shown, advice = blocks
            line = source.offset + call.lineno
            through = f", in `{' > '.join(path)}`" if path else ""
            yield (
                f"calls `{shown}` on the event loop (line {line}{through}), which holds up every caller until"
                f" it returns, past its deadline: use {advice}, {self._remedy}"
            )
        elif reference is not None and reference.callee is not None:
            yield from self.look_into(reference.callee, (*path, reference.names[0]), reference.owner)


def _advise(reference: Reference | None) -> tuple[str, str] | None:
    """Return a blocking function's name and its replacement."""
    if reference is None:
        return None
    advice = next((it for name in reference.names if (it := find_advice(reference.top, name)) is not None), None)
    return None if advice is None else (reference.shown, advice)


def _advise_member(function: ast.expr, names: Namespace) -> tuple[str, str] | None:
    """Return the advice for a method of a client that only has blocking methods, such as `client.responses.create`."""
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.insert(0, function.attr)
        function = function.value
        client = names.resolve(function)
        if client is not None and client.is_instance and "asyncio" not in client.shown:
            for name, stars in product(client.names, (".*", ".*.*")[: len(parts)]):
                if (advice := find_advice(client.top, name + stars)) is not None:
                    return ".".join([client.shown, *parts]), advice
    return None


def _goes_on_at_once(call: ast.Call) -> bool:
    """Return whether a call is non-blocking by its arguments, as `get(block=False)` and `wait(0)` are."""
    options = [it.value for it in call.keywords if it.arg in ("block", "blocking", "timeout")]
    return any(isinstance(it, ast.Constant) and it.value in (0, False) for it in (*call.args, *options))


def _find_nested(function: ast.expr, nested: dict[str, _Function]) -> _Function | None:
    """Return an inner function that is called here; each is searched once."""
    if isinstance(function, ast.Lambda):
        return function
    return nested.pop(function.id, None) if isinstance(function, ast.Name) else None


def _name_inner(function: _Function) -> str:
    return "lambda" if isinstance(function, ast.Lambda) else function.name


def _read_body(function: _Function) -> Sequence[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else function.body


def _find_plain(function: Any) -> tuple[Any, FunctionType | None]:
    """Return the owner of a method, and the plain function; None if there is none of the author's.

    Wrappers of other packages are unwrapped; the author's own wrappers are code that runs.
    """
    own = None
    for _ in range(_MOST_WRAPPED):  # An object may say of any attribute that it has it.
        own = getattr(function, "__self__", None)
        function = getattr(function, "__func__", function)
        if isinstance(function, FunctionType) and _is_authors(function):
            return own, function
        function = _find_wrapped(function)
    return own, None


def _find_wrapped(function: Any) -> Any:
    if isinstance(function, partial):
        return function.func
    inner = getattr(function, "__wrapped__", None)
    # What options are made ready with has the author's function among its variables.
    if inner is None and isinstance(function, FunctionType) and function.__module__.startswith(_OURS):
        return next(filter(callable, inspect.getclosurevars(function).nonlocals.values()), None)
    return inner


def _is_authors(function: FunctionType) -> bool:
    file = Path(function.__code__.co_filename)
    return not _FOREIGN.intersection(file.parts) and not file.is_relative_to(_STANDARD) and file.exists()


def _read_source(function: FunctionType, own: Any) -> _Source | None:
    file, first = function.__code__.co_filename, function.__code__.co_firstlineno
    try:
        # `inspect.getsource` would look through all modules for each function.
        linecache.checkcache(file)
        lines = linecache.getlines(file, function.__globals__)[first - 1 :]
        [tree] = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return None
    if function.__name__ == _LAMBDA:
        found = [it for it in ast.walk(tree) if isinstance(it, ast.Lambda)]
        return _Source([found[0].body], first - 1, Namespace(function, own)) if len(found) == 1 else None
    return _Source(tree.body, first - 1, Namespace(function, own)) if isinstance(tree, _NESTED) else None


def _walk_in_order(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Walk through the code that a call of the function runs, in order; inner functions run when they are called."""
    for node in body:
        yield node
        if not isinstance(node, (*_NESTED, ast.Lambda, ast.ClassDef)):
            yield from _walk_in_order(ast.iter_child_nodes(node))


_VERBS = "get post put patch delete head options request"

_HTTP = "`httpx.AsyncClient` or `guarded_async_client`"

_PROCESS = "`asyncio.create_subprocess_exec`"

_THREAD = "`await asyncio.to_thread(…)`"

_CLIENT = "the async client of that package"


def _methods(kind: str, names: str) -> str:
    return " ".join(f"{kind}.{name}" for name in names.split())


# What is asked to go on at once there, by an argument, does not wait.
WAITING = frozenset(("concurrent", "multiprocessing", "queue", "select", "selectors", "threading"))
# Packages, what to use in place of what they have, and its names there;
# with stars, for any attribute of an object that deep.
_TABLE: tuple[tuple[str, str, str], ...] = (
    ("time", "`await asyncio.sleep(…)`", "sleep"),
    ("requests", _HTTP, f"{_VERBS} {_methods('Session', _VERBS)} Session.send"),
    ("httpx", _HTTP, f"{_VERBS} stream {_methods('Client', _VERBS)} Client.send Client.stream"),
    ("urllib", _HTTP, "urlopen urlretrieve OpenerDirector.open"),
    ("urllib3", _HTTP, f"request {_methods('PoolManager', 'request urlopen request_encode_url request_encode_body')}"),
    ("http", _HTTP, _methods("HTTPConnection", "connect request getresponse")),
    ("http", _HTTP, _methods("HTTPSConnection", "connect request getresponse")),
    ("subprocess", _PROCESS, "run call check_call check_output getoutput getstatusoutput Popen"),
    ("subprocess", _PROCESS, "Popen.wait Popen.communicate"),
    ("os", _PROCESS, "system popen wait wait3 wait4 waitid waitpid posix_spawn posix_spawnp"),
    ("os", _PROCESS, "spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe"),
    ("builtins", _THREAD, "input"),
    ("socket", "`asyncio.open_connection`", "create_connection getaddrinfo gethostbyname gethostbyname_ex"),
    ("socket", "`asyncio.open_connection`", "gethostbyaddr getnameinfo getfqdn"),
    ("socket", "`asyncio.open_connection`", _methods("socket", "connect accept recv recvfrom send sendall sendto")),
    ("threading", "what asyncio has", "Event.wait Condition.wait Barrier.wait Thread.join"),
    ("queue", "`asyncio.Queue`", "Queue.get Queue.join SimpleQueue.get LifoQueue.get PriorityQueue.get"),
    ("concurrent", "`await asyncio.wrap_future(…)`", "wait as_completed Future.result Future.exception"),
    ("select", "what asyncio has", "select poll.poll epoll.poll"),
    ("selectors", "what asyncio has", "BaseSelector.select DefaultSelector.select"),
    ("signal", "`loop.add_signal_handler`", "pause sigwait sigwaitinfo"),
    ("multiprocessing", _THREAD, "BaseProcess.join Process.join Pool.map Pool.starmap Pool.apply Pool.join"),
    ("ssl", _THREAD, "get_server_certificate"),
    ("getpass", _THREAD, "getpass"),
    ("shutil", _THREAD, "copytree rmtree make_archive unpack_archive"),
    ("xmlrpc", _THREAD, "ServerProxy.*"),
    ("paramiko", "`asyncssh`", "SSHClient.connect SSHClient.exec_command"),
    ("smtplib", _THREAD, "SMTP SMTP_SSL"),
    ("imaplib", _THREAD, "IMAP4 IMAP4_SSL"),
    ("poplib", _THREAD, "POP3 POP3_SSL"),
    ("ftplib", _THREAD, "FTP FTP_TLS"),
    ("psycopg", _CLIENT, "connect Connection.connect Connection.execute Cursor.execute"),
    ("psycopg2", "`psycopg` or `asyncpg`", "connect"),
    ("pymysql", "`asyncmy` or `aiomysql`", "connect Connect"),
    ("mysql", _CLIENT, "connect"),
    ("MySQLdb", _THREAD, "connect"),
    ("pyodbc", "`aioodbc`", "connect"),
    ("oracledb", _CLIENT, "connect"),
    ("sqlite3", "`aiosqlite`", "connect"),
    ("sqlalchemy", "`sqlalchemy.ext.asyncio`", _methods("Engine", "connect begin")),
    ("sqlalchemy", "`sqlalchemy.ext.asyncio`", _methods("Connection", "execute scalar scalars commit")),
    ("sqlalchemy", "`sqlalchemy.ext.asyncio`", _methods("Session", "execute scalar scalars commit flush get")),
    ("redis", "`redis.asyncio`", "Redis.* StrictRedis.*"),
    ("openai", "`openai.AsyncOpenAI`", "OpenAI.*.* AzureOpenAI.*.*"),
    ("anthropic", "`anthropic.AsyncAnthropic`", "Anthropic.*.*"),
    ("pymongo", _CLIENT, "MongoClient"),
    ("boto3", _THREAD, "client resource"),
)

_ADVICE = {(package, name): advice for package, advice, names in _TABLE for name in names.split()}


def find_advice(package: str, name: str) -> str | None:
    """Return the replacement for a blocking function or method; None for others."""
    return _ADVICE.get((package, name))
