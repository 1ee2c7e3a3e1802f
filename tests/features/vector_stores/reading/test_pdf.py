"""PDF is read in a process of its own, and what would take this one along ends there."""

import pytest

from sidecall.features.vector_stores import texts
from sidecall.features.vector_stores import texts as pdf
from sidecall.features.vector_stores.texts import UnreadableFile, read_text
from tests.features.vector_stores.reading.pdfs import write_bomb, write_pdf


def test_the_text_of_all_pages_is_read() -> None:
    """No matter what the file is called."""
    assert read_text("a.txt", write_pdf("Grey herons fish", "Owls hunt")) == "Grey herons fish\n\nOwls hunt\n\n"


@pytest.mark.parametrize(
    ("body", "bounds", "said"),
    [
        (
            b"%PDF-1.4 and nothing else",
            {},
            "The PDF cannot be read: Failed to load document (PDFium: Data format error).",
        ),
        (write_bomb(40), {"seconds": 0.2}, "The PDF takes more than 0.2 seconds to be read."),
        (
            write_bomb(40),
            {"memory_mb": 200},
            "The PDF cannot be read: its reader has ended, or needs more than 200 MB.",
        ),
    ],
    ids=["none", "slow", "large"],
)
def test_what_cannot_be_read_says_why(body: bytes, bounds: dict[str, int], said: str) -> None:
    """A bomb of 120 kB has 40 MiB in it, of which its reader makes a hundred times as much."""
    with pytest.raises(UnreadableFile) as caught:
        pdf.read_pdf(body, **bounds)

    assert caught.value.message == said


def test_pages_and_texts_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond what is read at most nothing is."""
    monkeypatch.setattr(pdf, "MOST_PAGES", 1)
    with pytest.raises(UnreadableFile, match="it has 2 pages, and 1 are read at most"):
        pdf.read_pdf(write_pdf("a", "b"))
    monkeypatch.setattr(pdf, "MOST_BYTES", 3)
    with pytest.raises(UnreadableFile, match="it has too much text"):
        pdf.read_pdf(write_pdf("four"))
    monkeypatch.setattr(texts, "MOST_CHARACTERS", 3)
    with pytest.raises(UnreadableFile, match="The file has more than 3 characters"):
        read_text("a.txt", b"four")


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With how to install it."""
    monkeypatch.setattr(pdf, "find_spec", lambda _: None)
    monkeypatch.setattr(texts, "find_page_reader", lambda: None)

    with pytest.raises(UnreadableFile, match=r"This server reads no PDF: pip install 'sidecall\[pdf\]'"):
        read_text("a.pdf", write_pdf("a"))
    with pytest.raises(UnreadableFile, match=r"This server reads no web pages: pip install 'sidecall\[fetch\]'"):
        read_text("a.html", b"<p>a</p>")


def test_pages_of_the_web_are_read_as_they_are_seen() -> None:
    """Without what is hidden."""
    assert read_text("a.HTML", b"<p hidden>no</p><p>Storks <b>migrate</b></p>").strip() == "Storks **migrate**"
