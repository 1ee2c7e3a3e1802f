"""In a real browser, the pages of others run no tools; its own and those that are named do."""

import json
from pathlib import Path

import pytest

from tests.e2e.browser.conftest import Stranger
from tests.e2e.conftest import Serve
from tests.kit.browser import Browser
from tests.kit.servers import Server

TOOLS = '''
from pathlib import Path

from sidecall import tool


@tool
async def leave_mark(file: str) -> str:
    """Leave a mark."""
    Path(file).touch()
    return "left"
'''
# Each is given where the server is, and the call; what it comes to says how the page got on.
SCRIPTS = {
    "no-cors": """
        fetch(`${server}/tool_calls`, {method: "POST", mode: "no-cors", body: call}).then((answer) => answer.type)""",
    "cors": """
        fetch(`${server}/tool_calls`, {method: "POST", headers: {"Content-Type": "application/json"}, body: call})
            .then(async (answer) => [(await answer.json()).content, answer.headers.has("X-Request-Id")].join())
            .catch(() => "not allowed")""",
    "form": """
        new Promise((done) => {
            document.body.innerHTML = `<iframe name=frame></iframe>
                <form method=post enctype=text/plain target=frame action="${server}/tool_calls"><input></form>`;
            const [name, value] = call.split(/=(.*)/s);
            Object.assign(document.querySelector("input"), {name, value});
            document.querySelector("iframe").onload = () => done("sent");
            document.querySelector("form").submit();
        })""",
    "same origin": """
        fetch("/tool_calls", {method: "POST", headers: {"Content-Type": "application/json"}, body: call})
            .then(async (answer) => `${answer.status} ${(await answer.json()).type}`)""",
    "image": """
        new Promise((done) => {
            const image = new Image();
            image.onload = image.onerror = (event) => done(event.type);
            image.src = `${server}/docs/assets/favicon-32x32.png`;
        })""",
}
# Resolved once Swagger UI has read the document.
SHOWS_OPERATIONS = """
    new Promise((done) => {
        const look = () => document.querySelector(".opblock") ? done("shown") : setTimeout(look, 20);
        look();
    })"""


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory, stranger: Stranger) -> Server:
    """Offer the tool to itself and to one page of the stranger's, and let the stranger's names lead to it."""
    file = tmp_path_factory.mktemp("tools") / "marking.py"
    file.write_text(TOOLS)
    origins = f"http://app.example:{stranger.server_port}"
    server = start_server("--tools", str(file), SIDECALL_ORIGINS=origins)
    stranger.leads_to = server.port
    return server


def run(browser: Browser, script: str, server: Server, mark: Path) -> str:
    """Run a script in the page where the browser is, which is to leave this mark."""
    # The "=" is where a form's field ends and its value begins.
    call = json.dumps({"name": "leave_mark", "args": {"file": str(mark)}, "id": "a=b"})
    result = browser.run(f"((server, call) => {SCRIPTS[script]})({json.dumps(server.url)}, {json.dumps(call)})")
    return str(result)


@pytest.mark.parametrize(
    ("name", "script", "result"),
    [
        ("evil.example", "no-cors", "opaque"),
        ("evil.example", "cors", "not allowed"),
        ("evil.example", "form", "sent"),
        ("evil.example", "image", "error"),
        # Its name leads to the server by now, and its port is the server's.
        ("evil.example", "same origin", "421 urn:sidecall:problem:foreign-host"),
        # Another port of the same machine.
        ("127.0.0.1", "no-cors", "opaque"),
        ("127.0.0.1", "cors", "not allowed"),
        ("127.0.0.1", "form", "sent"),
        ("127.0.0.1", "image", "error"),
    ],
)
def test_pages_of_others_run_no_tools(
    browser: Browser, server: Server, stranger: Stranger, tmp_path: Path, name: str, script: str, result: str
) -> None:
    """No matter what they try."""
    browser.go_to(f"http://{name}:{stranger.server_port}/page")

    assert run(browser, script, server, tmp_path / "mark") == result
    assert not (tmp_path / "mark").exists()


def test_a_page_that_is_named_runs_tools(browser: Browser, server: Server, stranger: Stranger, tmp_path: Path) -> None:
    """And reads the answer, with its headers."""
    browser.go_to(f"http://app.example:{stranger.server_port}/page")

    assert run(browser, "cors", server, tmp_path / "mark") == "left,true"
    assert (tmp_path / "mark").exists()


PROGRAM = """
    import("/js/index.js").then(async ({Sidecall}) => {
        const client = new Sidecall(server);
        const names = (await client.tools()).map((it) => it.function.name);
        const call = {id: "a", type: "function", function: {name: "leave_mark", arguments: JSON.stringify({file})}};
        const messages = await client.run({role: "assistant", content: null, tool_calls: [call]});
        const events = [];
        for await (const {event} of client.stream("leave_mark", {file})) events.push(event);
        return JSON.stringify([names, messages.at(-1), events, (await client.tools()).length]);
    })"""


def test_the_package_for_javascript_works_in_a_page(
    browser: Browser, server: Server, stranger: Stranger, tmp_path: Path
) -> None:
    """Of an origin that is named; it asks twice for the list, whose second answer has no body."""
    browser.go_to(f"http://app.example:{stranger.server_port}/page")
    given = f"({json.dumps(server.url)}, {json.dumps(str(tmp_path / 'mark'))})"

    told = json.loads(browser.run(f"((server, file) => {PROGRAM}){given}"))

    assert told == [["leave_mark"], {"role": "tool", "tool_call_id": "a", "content": "left"}, ["message"], 1]
    assert (tmp_path / "mark").exists()


def test_the_explorer_runs_tools(browser: Browser, server: Server, tmp_path: Path) -> None:
    """It is the server's own page."""
    browser.go_to(f"{server.url}/docs")

    assert run(browser, "cors", server, tmp_path / "mark") == "left,true"
    assert (tmp_path / "mark").exists()
    assert browser.run(SHOWS_OPERATIONS) == "shown"


def test_a_link_of_others_leads_here(browser: Browser, server: Server, stranger: Stranger) -> None:
    """To be looked at by a person."""
    browser.go_to(f"http://evil.example:{stranger.server_port}/page")
    browser.follow(f"location.href = '{server.url}/tools'")

    assert '"name":"leave_mark"' in browser.run("document.body.innerText")
