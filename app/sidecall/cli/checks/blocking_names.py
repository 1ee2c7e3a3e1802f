"""Blocking functions and methods, by package.

They are those of the rules ASYNC210, 212, 220 to 222, 250 and 251 of Ruff and flake8-async, and more of the same kind.
These linters read single files, so they miss functions of other files and clients in module variables, and Ruff is no
library. Opening local files (ASYNC230) is left out: most are small and quickly read.
"""

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
