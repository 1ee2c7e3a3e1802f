"""Read the text of a file that a program has sent."""

from pathlib import PurePosixPath

from sidecall.features.vector_stores.indexing.pages import PAGES, find_page_reader
from sidecall.features.vector_stores.reading.pdf import read_pdf
from sidecall.features.vector_stores.reading.unreadable import UnreadableFile

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
