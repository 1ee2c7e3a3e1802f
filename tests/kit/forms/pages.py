"""A page for forms, served with the policy of the console, in a browser that Playwright drives."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.kit.sources import ROOT

STATIC = ROOT / "app/sidecall/features/console/static"
DRIVER = Path(__file__).with_name("driver.js")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script';"
    " trusted-types 'none'"
)
_PAGE = b"""<!doctype html><html lang=en><meta charset=utf-8><title>A form</title><link rel=icon href=data:,>
<meta name=viewport content="width=device-width, initial-scale=1">
<link rel=stylesheet href=/static/form.css><link rel=stylesheet href=/static/console.css>
<script type=module src=/driver.js></script>
<main><h1>A form</h1><div id=place></div></main>"""
_KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}


class _Files(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Give the page, the driver, or a file of the console."""
        path = Path(self.path)
        if self.path == "/":
            body, kind = _PAGE, "text/html"
        else:
            file = DRIVER if self.path == "/driver.js" else STATIC / path.relative_to("/static")
            body, kind = file.read_bytes(), _KINDS[path.suffix]
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def open_page(program: str) -> Iterator[Page]:
    """Open the page in a browser."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_selector("html[data-ready]")
        yield page
        browser.close()
    server.shutdown()
    server.server_close()


@contextmanager
def open_another(page: Page, script: str) -> Iterator[Page]:
    """Open the page once more, in a browser that a script has changed before."""
    assert page.context.browser is not None
    other = page.context.browser.new_page()
    other.add_init_script(script)
    other.goto(page.url)
    other.wait_for_selector("html[data-ready]")
    yield other
    other.close()


def call(page: Page, name: str, *arguments: Any) -> Any:
    """Call a function of the driver."""
    return page.evaluate("([name, given]) => window.kit[name](...given)", [name, list(arguments)])
