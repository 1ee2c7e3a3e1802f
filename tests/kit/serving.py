"""Serve another application on a socket of this machine, for clients that want a real one."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.kit.waiting import PATIENCE


@contextmanager
def serving_app(make: Callable[[str], Any]) -> Iterator[str]:
    """Serve the application that is made for an address, and give the address."""
    config = uvicorn.Config(lambda: None, port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    socket = config.bind_socket()
    url = f"http://127.0.0.1:{socket.getsockname()[1]}"
    config.app = make(url)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    ends = time.monotonic() + PATIENCE
    while not server.started and time.monotonic() < ends:
        time.sleep(0.01)
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
