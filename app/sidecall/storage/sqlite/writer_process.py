"""The process that writes a SQLite file, so that disk work never delays the server's answers."""

import json
import os
import pickle
import select
import signal
import socket
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.feature_tables import FeatureTables
from sidecall.storage.notifications import Bundle
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.messages import Messages, Told, pack_message
from sidecall.storage.sqlite.opened_file import read_id
from sidecall.storage.sqlite.tables import PURPOSES
from sidecall.storage.sqlite.writer_connection import Alive, Order, Unavailable, Usable, WriterConnection

# More in one commit would let the first of them wait for long.
_LARGEST_GROUP = 1000
# Seconds between two looks whether the server still lives, where the end of its socket does not say so.
_LOOK = 1.0
# Seconds between two signs of life while something is being written.
_SIGN = 1.0
# Bytes that are received at once; the system has to make room for much more each time.
_PIECE = 65_536
# Bytes of what a worker says of itself when it asks to be let in.
_LONGEST = 32


class Client:
    """A process that asks, and the socket to it; it never makes the others wait, however slowly it reads."""

    def __init__(self, link: socket.socket, pid: int) -> None:
        """Name the socket, and the process at its other end."""
        self._link = link
        self.pid = pid
        self.trouble: Unavailable | None = None  # Which it was told, and has not asked to try again since.
        self.polled = 0  # What was waited for last.
        self.has_ended = False
        self._messages = Messages()
        self._unsaid = deque[memoryview]()
        self._told = Bundle()  # By others; what one that does not read has to hear of has a bound.

    def fileno(self) -> int:
        """Return the descriptor of its socket."""
        return self._link.fileno()

    @property
    def awaited(self) -> int:
        """What is waited for, in the words of `select.poll`: its next message, once it has heard all answers."""
        return select.POLLOUT if self._unsaid else select.POLLIN

    @property
    def lives(self) -> bool:
        """Whether the process is alive, even if another one has its end of the socket."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True

    def receive(self) -> list[Any]:
        """Return the messages that have come, once it has heard all answers."""
        if self._unsaid:
            self._flush()
            return []
        try:
            piece = self._link.recv(_PIECE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            piece = b""
        if not piece:
            self.has_ended = True
        return list(self._messages.feed(piece))

    def say(self, content: Any) -> None:
        """Send a message, at once or as soon as it reads."""
        self._unsaid.extend(map(memoryview, pack_message(content)))
        self._flush()

    def pass_on(self, words: Sequence[str]) -> None:
        """Send what another has told, at once or as soon as it has read all before that."""
        for word in words:
            self._told.add(word)
        self._flush()

    def say_alive(self) -> None:
        """Send a sign of life, unless it has not read what was said before."""
        if not self._unsaid:
            self.say(Alive())

    def close(self) -> None:
        """Let go of the socket, by whose end the process knows that nothing more comes."""
        self._link.close()

    def _flush(self) -> None:
        try:
            while self._unsaid or self._told:
                if not self._unsaid:
                    self._unsaid.extend(map(memoryview, pack_message(Told(self._told.take()))))
                sent = self._link.send(self._unsaid[0], socket.MSG_DONTWAIT)
                self._unsaid[0] = self._unsaid[0][sent:]
                if not self._unsaid[0]:
                    self._unsaid.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self.has_ended = True
            self._unsaid.clear()
            self._told.take()


class Service:
    """Writes for all clients, with a shared commit for concurrent statements, and tells each its result.

    A client that was told of a fault is refused until it asks to try again: what it sent before it knew was not
    written, even if other clients have asked already.
    """

    def __init__(self, pen: WriterConnection, server: int, listener: socket.socket | None = None) -> None:
        """Write for the process with this id; `listener` accepts its workers, if it has some."""
        self._pen = pen
        self._server = server
        self._listener = listener
        self._is_ending = False
        self._usable: Usable | None = None
        self._clients: dict[int, Client] = {}
        self._waiter = select.poll()
        # Held by who speaks to those that ask: by the thread of the signs only while this one waits for the disk.
        self._speaking = threading.Lock()
        self._has_ended = threading.Event()
        if listener is not None:
            self._waiter.register(listener, select.POLLIN)

    def admit(self, client: Client) -> None:
        """Open the file if necessary, and serve this client from now on; it is told of any fault."""
        try:
            self._usable = self._open() if self._usable is None else Usable(self._pen.identity)
        except StoreUnfit as error:
            client.say((type(error), error.message))
            client.close()
            return
        client.say(self._usable)
        self._clients[client.fileno()] = client

    def _open(self) -> Usable:
        usable = self._pen.open()
        if self._listener is not None and usable.identity is not None:
            with suppress(OSError):  # No parent is left to start another process.
                self._listener.send(json.dumps(usable.identity[0]).encode(), socket.MSG_DONTWAIT)
        return usable

    def run(self) -> None:
        """Write until there are no clients left and none can come."""
        threading.Thread(target=self._give_signs, name="sidecall-signs", daemon=True).start()
        self._speaking.acquire()
        try:
            while self._is_wanted():
                self._take_turn()
        finally:
            self._has_ended.set()
            if self._usable is not None:
                self._pen.close()  # Before the sockets, by whose end the server knows that the file is free.
            for client in self._clients.values():
                client.close()

    def _give_signs(self) -> None:
        """Send heartbeats to all clients while this process waits for the disk."""
        while not self._has_ended.wait(_SIGN):
            if self._speaking.acquire(blocking=False):
                try:
                    for client in self._clients.values():
                        client.say_alive()
                finally:
                    self._speaking.release()

    @contextmanager
    def _waiting_for_disk(self) -> Iterator[None]:
        self._speaking.release()
        try:
            yield
        finally:
            self._speaking.acquire()

    def _look(self) -> Unavailable | None:
        if self._usable is None:
            return None
        with self._waiting_for_disk():
            return self._pen.look()

    def _is_wanted(self) -> bool:
        is_orphan = os.getppid() != self._server
        if is_orphan or self._is_ending:
            self._stop_listening()
            for client in list(self._clients.values()):
                if (is_orphan and client.pid == self._server) or not client.lives:
                    self._leave(client)
        return bool(self._clients) or self._listener is not None

    def _take_turn(self) -> None:
        for client in self._clients.values():
            if client.polled != client.awaited:  # Else the list would be made anew each time.
                client.polled = client.awaited
                self._waiter.register(client, client.polled)
        ready = self._waiter.poll(_LOOK * 1000)
        if not ready and (trouble := self._look()) is not None:
            self._tell(trouble)
        received: list[tuple[Client, list[Order] | bool]] = []
        for descriptor, _ in ready:
            asking = self._clients.get(descriptor)
            if asking is None:
                self._accept()
            else:
                received += [(asking, message) for message in self._receive(asking)]
        self._carry_out(received)
        for client in [client for client in self._clients.values() if client.has_ended]:
            self._leave(client)

    def _receive(self, asking: Client) -> Iterator[list[Order] | bool]:
        """Yield a client's orders, and pass on its notifications, whose data is written already."""
        for message in asking.receive():
            if not isinstance(message, Told):
                yield message
                continue
            for client in self._clients.values():
                if client is not asking:
                    client.pass_on(message.words)

    def _accept(self) -> None:
        assert self._listener is not None
        try:
            said, descriptors, *_ = socket.recv_fds(self._listener, _LONGEST, 1, socket.MSG_DONTWAIT)
        except OSError:  # No client is left that could ask.
            return
        if not descriptors:  # The server wants no more.
            self._is_ending = True
            return
        client = Client(socket.socket(fileno=descriptors[0]), int(said))
        client.say(os.getpid())
        self.admit(client)

    def _stop_listening(self) -> None:
        if self._listener is not None:
            self._waiter.unregister(self._listener)
            self._listener = None

    def _leave(self, client: Client) -> None:
        del self._clients[client.fileno()]
        self._waiter.unregister(client)
        if self._clients or self._listener is not None:  # Else the file is let go of first.
            client.close()

    def _carry_out(self, received: Sequence[tuple[Client, list[Order] | bool]]) -> None:
        """Run the orders that have arrived; groups are joined."""
        group: list[Order] = []
        shares: list[tuple[Client, int]] = []
        for client, message in received:
            if isinstance(message, bool) or len(group) >= _LARGEST_GROUP:
                self._write(group, shares)
                group, shares = [], []
            if isinstance(message, bool):
                self._try_again(client, is_damaged=message)
            elif client.trouble is not None:
                client.say(client.trouble)
            else:
                group += message
                shares.append((client, len(message)))
        self._write(group, shares)

    def _write(self, group: Sequence[Order], shares: Sequence[tuple[Client, int]]) -> None:
        if not group:
            return
        with self._waiting_for_disk():
            outcomes = self._pen.write(group)
        if isinstance(outcomes, Unavailable):
            self._tell(outcomes)
            return
        outcomes = _make_sendable(outcomes)
        place = 0
        answers: dict[Client, list[Any]] = {}
        for client, count in shares:
            answers.setdefault(client, []).extend(outcomes[place : place + count])
            place += count
        for client, answer in answers.items():
            client.say(answer)

    def _try_again(self, client: Client, *, is_damaged: bool) -> None:
        with self._waiting_for_disk():
            outcome = self._pen.try_again(is_damaged)
        client.trouble = outcome if isinstance(outcome, Unavailable) else None
        client.say(outcome)
        if isinstance(outcome, Unavailable):
            self._tell(outcome)

    def _tell(self, trouble: Unavailable) -> None:
        """Report a fault to all clients that do not know it."""
        for client in self._clients.values():
            if client.trouble is None:
                client.trouble = trouble
                client.say(trouble)


def _make_sendable(outcomes: list[Any]) -> list[Any]:
    """Return what became of orders in a form that can be sent."""
    if not any(map(isinstance, outcomes, repeat(Exception))):
        return outcomes
    return [_replace_unsendable(outcome) if isinstance(outcome, Exception) else outcome for outcome in outcomes]


def _replace_unsendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  just written
    except Exception:
        return ValueError(str(error))
    return error


def write_for_server(series: str, path: str, patience: str, descriptor: str, server: str, known: str) -> None:
    """Write a file for a server, until that ends or wants no more."""
    connection = _prepare(series, path, patience, server, known)
    service = Service(connection, int(server))
    service.admit(Client(socket.socket(fileno=int(descriptor)), int(server)))
    service.run()
    _leave(connection)


def write_for_workers(series: str, path: str, patience: str, descriptor: str, server: str, known: str) -> None:
    """Write a file for the workers of a server, until that wants no more and all of them have ended."""
    connection = _prepare(series, path, patience, server, known)
    with socket.socket(fileno=int(descriptor)) as listener:
        Service(connection, int(server), listener).run()
    _leave(connection)


def _prepare(series: str, path: str, patience: str, server: str, known: str) -> WriterConnection:
    # The server decides when it is over: after what runs in it has ended, which may write to the last.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    file, others = json.loads(known)
    purpose = next(one for one in PURPOSES if one.series == series)
    purpose = replace(purpose, is_apart=True, others=tuple(FeatureTables(*it) for it in others))
    return WriterConnection(SqliteFile(Path(path), float(patience), purpose, int(server), read_id(json.dumps(file))))


def _leave(connection: WriterConnection) -> None:
    """End before Python closes a file that was changed, and SQLite brings its log into that."""
    if connection.is_over:
        os._exit(0)
