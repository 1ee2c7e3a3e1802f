"""Read a PDF in its own process, which is killed when it takes too much time or memory."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from sidecall.features.vector_stores.reading.unreadable import UnreadableFile

SECONDS = 20.0
MEMORY_MB = 512
MOST_PAGES = 2000
# Bytes of text after which reading stops.
MOST_BYTES = 32 * 1024 * 1024
_PROGRAM = Path(__file__).with_name("pdf_program.py")
# The exit code of the program when it reports an error.
_SAID = 3


def read_pdf(body: bytes, seconds: float = SECONDS, memory_mb: int = MEMORY_MB) -> str:
    """Return the text of a PDF, with empty lines between pages.

    Raises:
        UnreadableFile: It is not a PDF, is locked, has too many pages, or takes too much time or memory.
    """
    if find_spec("pypdfium2") is None:
        raise UnreadableFile("This server reads no PDF: pip install 'sidecall[pdf]'", "unsupported_file")
    # Without the server's environment, which has secrets, and its working directory.
    command = [sys.executable, "-I", str(_PROGRAM), str(memory_mb), str(int(seconds) + 1), str(MOST_PAGES)]
    try:
        ended = subprocess.run(  # noqa: S603  our own program
            [*command, str(MOST_BYTES)],
            input=body,
            capture_output=True,
            timeout=seconds,
            env={},
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnreadableFile(f"The PDF takes more than {seconds:g} seconds to be read.") from None
    if ended.returncode == _SAID:
        raise UnreadableFile(f"The PDF cannot be read: {_decode_end(ended.stdout)}.")
    if ended.returncode:
        raise UnreadableFile(f"The PDF cannot be read: its reader has ended, or needs more than {memory_mb} MB.")
    return ended.stdout.decode(errors="replace").replace("\0", "")


def _decode_end(output: bytes) -> str:
    return output.decode(errors="replace")[-200:].rstrip(".")
