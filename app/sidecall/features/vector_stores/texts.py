"""Read the text of a file that a program has sent."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Literal

# Maximum characters of a file's text; its pieces and words take several times as many bytes.
MOST_CHARACTERS = 8 * 1024 * 1024

_PDF = b"%PDF-"
# A PDF is recognized within so many bytes.
_EARLY = 1024


def is_pdf(body: bytes) -> bool:
    """Return whether a file is a PDF by its first bytes; PDFs take long to read."""
    return _PDF in body[:_EARLY]


def read_text(name: str, body: bytes) -> str:
    """Return the text of a file; a PDF is read in a process of its own, which may take seconds.

    Raises:
        UnreadableFile: It has no text, or its type is not supported.
    """
    text = read_pdf(body) if is_pdf(body) else _decode(name, body)
    if len(text) > MOST_CHARACTERS:
        raise UnreadableFile(f"The file has more than {MOST_CHARACTERS:,} characters. Cut it into several.")
    if not text.strip():
        raise UnreadableFile("There is no text in the file.")
    return text


def _decode(name: str, body: bytes) -> str:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UnreadableFile("The file is neither a text in UTF-8 nor a PDF.", "unsupported_file")
    if PurePosixPath(name).suffix.lower() not in PAGES:
        return text
    read_page = find_page_reader()
    if read_page is None:
        raise UnreadableFile("This server reads no web pages: pip install 'sidecall[fetch]'", "unsupported_file")
    return read_page(text)


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


FileFault = Literal["invalid_file", "unsupported_file", "server_error"]


class UnreadableFile(Exception):
    """The text of a file cannot be had; the words are for who sent it, the code is OpenAI's."""

    def __init__(self, message: str, code: FileFault = "invalid_file") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


PAGES = (".html", ".htm", ".xhtml")

_READER = "html_to_markdown"


@cache
def find_page_reader() -> Callable[[str], str] | None:
    """Return a converter of web pages to text; None where `sidecall[fetch]` is not installed.

    Nothing of it is loaded before it is asked for.
    """
    if find_spec(_READER) is None:
        return None
    reader: Any = import_module(_READER)
    options = reader.ConversionOptions(extract_metadata=False)

    def read_page(page: str) -> str:
        try:
            return reader.convert(page, options).content or ""
        except reader.ConversionError:
            return ""

    return read_page
