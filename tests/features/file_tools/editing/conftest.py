"""A workspace with some files in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecall.features.workspaces.workspace import Workspace

FILES = {
    "a.py": "import os\n\n\ndef f():\n    return 1\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "bare.txt": "one\ntwo",
    "empty.txt": "",
    "src/app.py": "print('error')\n",
    "src/deep/inner.py": "error = 2\n",
    ".hidden/x.py": "error\n",
    "node_modules/m.js": "error\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Make one."""
    folder = tmp_path / "inside"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    with Workspace(folder) as made:
        yield made
