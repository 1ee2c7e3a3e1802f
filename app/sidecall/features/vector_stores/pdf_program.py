"""Convert the PDF on standard input to text on standard output; imports nothing of the server."""

import sys

import pypdfium2

try:
    import resource
except ImportError:  # Where there is none, only the time is bounded.
    resource = None  # type: ignore[assignment]

SAID = 3


def confine_reader(memory_mb: int, seconds: int) -> None:
    """Limit memory, time and files of this process."""
    if resource is not None:
        most = memory_mb * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def write_text(body: bytes, most_pages: int, most_bytes: int) -> None:
    """Write page after page, until there are too many bytes.

    Raises:
        PdfiumError: It is not a PDF.
        ValueError: There are too many pages.
    """
    document = pypdfium2.PdfDocument(body)
    if len(document) > most_pages:
        raise ValueError(f"it has {len(document)} pages, and {most_pages} are read at most")
    written = 0
    for page in document:
        text = page.get_textpage().get_text_bounded().replace("\r\n", "\n").encode(errors="ignore")
        written += len(text)
        if written > most_bytes:
            raise ValueError("it has too much text")
        sys.stdout.buffer.write(text + b"\n\n")
        page.close()


def run_reader() -> int:
    """Read, and return what the process ends with."""
    memory_mb, seconds, most_pages, most_bytes = map(int, sys.argv[1:])
    body = sys.stdin.buffer.read()
    confine_reader(memory_mb, seconds)
    try:
        write_text(body, most_pages, most_bytes)
    except (pypdfium2.PdfiumError, ValueError) as error:
        sys.stdout.buffer.write(str(error).encode())
        return SAID
    except MemoryError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run_reader())
