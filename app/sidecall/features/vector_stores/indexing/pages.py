"""Convert web pages to text, where the converter is installed."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

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
