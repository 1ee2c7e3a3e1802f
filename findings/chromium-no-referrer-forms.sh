#!/usr/bin/env bash
# Chromium, driven by playwright 1.65.2: what a page with `Referrer-Policy: no-referrer` says of itself.
#
# A good guess: the policy keeps the header `Referer` away, and a server that looks at `Origin` still knows its own forms.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check playwright==1.65.2
"$folder/venv/bin/python" - "$program" <<'PYTHON'
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from playwright.sync_api import sync_playwright

PAGE = b"<!doctype html><title>A page</title><link rel=icon href=data:,><form method=post action=/form><button>Go</button></form>"
heard: dict[str, str | None] = {}


class Pages(BaseHTTPRequestHandler):
    policy = ""

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        heard[f"{self.policy} {self.path}"] = self.headers["Origin"]
        self.answer()

    def answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Referrer-Policy", self.policy)
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
Thread(target=server.serve_forever, daemon=True).start()
origin = f"http://127.0.0.1:{server.server_port}"
print(subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True).stdout.strip())
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=sys.argv[1], args=["--no-sandbox"])
    for policy in ("no-referrer", "same-origin"):
        Pages.policy = policy
        page = browser.new_page()
        page.goto(origin)
        page.evaluate("fetch('/script', {method: 'POST'})")
        page.get_by_role("button").click()
        page.wait_for_url("**/form")
    browser.close()
for place, said in heard.items():
    print(f"{place}: Origin: {'its own' if said == origin else said}")
shown = {place: "own" if said == origin else said for place, said in heard.items()}
expected = {
    "no-referrer /script": "own",
    "no-referrer /form": "null",
    "same-origin /script": "own",
    "same-origin /form": "own",
}
sys.exit(0 if shown == expected else f"it was {expected}")
PYTHON
