"""Pages become Markdown of a length that a model can read, and what cannot be read is said."""

from collections.abc import Iterator
from typing import Any

import pytest

from sidecall import ToolMessage
from tests.kit.calls import run
from tests.outgoing.sites import Site, serving
from tests.tools import shipped

module = shipped.load("fetch")
PAGE = """<!doctype html><html><head><title>Birds &amp;
 more</title><script>var x = "no"</script><style>b {}</style></head><body>
<h1>Herons</h1><p>They <b>fish</b>, see <a href="/more?a=1">more</a>.</p>
<table><tr><th>name</th><th>cm</th></tr><tr><td>grey</td><td>98</td></tr></table>
<pre><code>x = 1
</code></pre><ul><li>one<li>two</ul></body></html>"""


@pytest.fixture(scope="module", name="site")
def serve_site() -> Iterator[Site]:
    """Serve one host for all tests here."""
    with serving() as site:
        site.give("/page", PAGE, "text/html; charset=utf-8")
        site.give("/empty", "<html><script>render()</script></html>", "text/html")
        site.give("/deep", "<div>" * 100_000 + "x", "text/html")
        site.give("/latin", "h\u00e9ron".encode("latin-1"), "text/plain; charset=latin-1")
        site.give("/meta", '<meta charset="latin-1"><p>h\u00e9ron</p>'.encode("latin-1"), "text/html")
        site.give("/unknown-charset", "h\u00e9ron", "text/plain; charset=nonsense")
        site.give("/punycode", "h\u00e9ron", "text/plain; charset=punycode")
        site.give("/json", '{"a": [1, 2]}', "application/json")
        site.give("/problem", "{}", "application/problem+json")
        site.give("/digits", "0123456789" * 100)
        site.give("/pdf", b"%PDF-1.7", "application/pdf")
        site.give("/image", b"\x89PNG", "image/png")
        site.give_bomb("/bomb", 6 * 1024 * 1024)
        site.redirect("/moved", "/page")
        site.redirect("/inside", "http://169.254.169.254/latest/meta-data")
        site.redirect("/round", "/round")
        site.answers["/down"] = (503, {}, b"")
        yield site


@pytest.fixture(autouse=True)
def _open(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", f"127.0.0.1:{site.port}")


async def fetch(site: Site, path: str, **args: Any) -> ToolMessage:
    """Call the tool as a model does."""
    return await run(module.fetch, {"url": site.url + path, **args})


async def test_a_page_is_markdown(site: Site) -> None:
    """With its title, whole links, and nothing of its scripts."""
    message = await fetch(site, "/moved")

    assert message.content == (
        "Title: Birds & more\n\n"
        f"# Herons\n\nThey **fish**, see [more]({site.url}/more?a=1).\n\n"
        "| name | cm |\n| ---- | --- |\n| grey | 98 |\n\n```\nx = 1\n```\n\n- one\n- two"
    )
    assert message.artifact == {
        "url": f"{site.url}/page",
        "content_type": "text/html",
        "characters": len(str(message.content)),
        "start": 0,
        "end": len(str(message.content)),
    }


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/latin", "h\u00e9ron"),
        ("/meta", "h\u00e9ron"),
        ("/unknown-charset", "h\u00e9ron"),
        ("/punycode", "h\u00e9ron"),
        ("/json", '{"a": [1, 2]}'),
        ("/problem", "{}"),
    ],
)
async def test_texts_come_as_they_are(site: Site, path: str, content: str) -> None:
    """In the encoding that they name."""
    assert (await fetch(site, path)).content == content


async def test_a_long_text_is_read_in_parts(site: Site) -> None:
    """Each says where the next begins, but the last."""
    first = await fetch(site, "/digits", max_characters=400)
    last = await fetch(site, "/digits", max_characters=400, start=800)
    beyond = await fetch(site, "/digits", start=1000)

    assert first.content == "0123456789" * 40 + "\n\n[Cut: 600 more characters. Fetch it with start=400.]"
    assert last.content == "0123456789" * 20
    assert beyond.content == "The text has 1000 characters only. Use a smaller start."


@pytest.mark.parametrize(
    ("path", "content", "retryable"),
    [
        ("/pdf", "The address leads to a PDF, which this tool cannot read. Use one of a page or a text.", False),
        (
            "/image",
            "The address leads to something of the type 'image/png', which this tool cannot read. "
            "Use one of a page or a text.",
            False,
        ),
        ("/none", "The page answers 404 Not Found. Use another address.", False),
        ("/down", "The page answers 503 Service Unavailable. Try again later.", True),
        ("/empty", "The page has no text. It may be made by scripts, which this tool does not run.", False),
        ("/deep", "The page has no text. It may be made by scripts, which this tool does not run.", False),
        ("/round", "The page leads from one address to the next without end. Use another address.", False),
        (
            "/bomb",
            "Refused: the answer is larger than 5242880 bytes. Ask for a part of it, or for another address.",
            False,
        ),
    ],
)
async def test_what_cannot_be_read_is_said(site: Site, path: str, content: str, retryable: bool) -> None:
    """With what to do."""
    message = await fetch(site, path)

    assert message.content == content
    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"
    assert message.response_metadata["error"]["retryable"] is retryable


@pytest.mark.parametrize("url", ["http://localhost/", "http://169.254.169.254/", "file:///etc/passwd", "{site}/inside"])
async def test_what_is_inside_is_refused(site: Site, url: str) -> None:
    """Also where a page leads there; the model reads why."""
    message = await run(module.fetch, {"url": url.format(site=site.url)})

    assert str(message.content).startswith("Refused")
    assert message.response_metadata["error"]["kind"] == "tool_error"


async def test_what_is_no_url_is_said() -> None:
    """With an example of one."""
    message = await run(module.fetch, {"url": "http://0177.0.0.1/"})

    assert message.content == "That is not a URL. Use a whole address, such as https://example.com/page."


async def test_a_host_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be there later."""
    with serving() as gone:
        pass
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", f"127.0.0.1:{gone.port}")

    message = await fetch(gone, "/")

    assert message.content == "The page cannot be reached. Check the address, or try again later."
    assert message.response_metadata["error"]["retryable"] is True


async def test_a_page_that_does_not_come_in_time_is_said(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the operator has set it."""
    monkeypatch.setenv("SIDECALL_OUTGOING_TIMEOUT", "0.4")

    message = await fetch(site, "/drip-body")

    assert message.content == "The page did not come in time. Try again later."


async def test_without_the_converter_pages_are_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """And texts are read all the same."""
    monkeypatch.setattr(module, "html_to_markdown", None)

    page, text = await fetch(site, "/page"), await fetch(site, "/json")

    assert page.content == ("Web pages cannot be read: the operator of this server has to install `sidecall[fetch]`.")
    assert text.content == '{"a": [1, 2]}'
