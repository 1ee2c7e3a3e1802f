"""Pages are complete without scripts, and let nothing run but their own."""

import re
from html import unescape

import httpx
import pytest

from tests.features.console.console_tools import HOSTILE, TOOLS
from tests.kit.clients import MakeClient

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
PAGES = ["tools", "tools/refund", "tools?q=money", "tools?tag=shop", "session"]


def _scripts(page: str) -> list[str]:
    return re.findall(r"<script(?! type=\"application/json\")[^>]*>([^<]*)", page)


@pytest.mark.parametrize("path", [*PAGES, "nowhere", "tools/nobody"])
async def test_every_page_has_the_strict_policy(make_client: MakeClient, path: str) -> None:
    """Also one that is not there; no script and no style stands in the page itself."""
    client = await make_client(*TOOLS)

    page = await client.get(f"/console/{path}")

    assert {name: page.headers.get(name) for name in SAFE} == SAFE
    assert page.status_code == (404 if path in ("nowhere", "tools/nobody") else 200)
    assert "".join(_scripts(page.text)).strip() == ""
    assert not re.search(r"<style|<[^>]*\s(style|on[a-z]+)=|=\"https?://", _without_data(page.text))


def _without_data(page: str) -> str:
    """Leave out what is data, and the name space that an image has."""
    return re.sub(r"<script type=\"application/json\".*?</script>|<pre.*?</pre>|xmlns=\"[^\"]*\"", "", page, flags=re.S)


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/", "console"),
        ("/console", "./console/tools"),
        ("/console/", "./../console/tools"),
        ("/console/tools/", "../../console/tools"),
        ("/console/tools/?q=a%20b", "../../console/tools?q=a%20b"),
    ],
)
async def test_short_addresses_lead_to_the_pages(make_client: MakeClient, path: str, to: str) -> None:
    """By relative addresses, which hold below any prefix."""
    client = await make_client(*TOOLS)

    answer = await client.get(path)
    assert (answer.status_code in (303, 307), answer.headers["location"]) == (True, to)
    end = await client.get(path, follow_redirects=True)
    assert (end.status_code, end.url.path) == (200, "/console/tools")


async def test_files_are_kept_for_ever_by_their_version(make_client: MakeClient) -> None:
    """And those of another version are not, nor is there a way to other files."""
    client = await make_client(*TOOLS)
    (sheet,) = re.findall(r'rel="stylesheet" href="([^"]+)"', (await client.get("/console/tools")).text)

    now = await client.get(httpx.URL("http://sidecall/console/tools").join(sheet).path)
    other = await client.get("/console/static/0/console.css")
    away = await client.get("/console/static/0/%2e%2e/routes.py")

    assert (now.headers["content-type"], "immutable" in now.headers["cache-control"]) == (
        "text/css; charset=utf-8",
        True,
    )
    assert (other.text == now.text, other.headers["cache-control"]) == (True, "no-store")
    assert away.status_code == 404


async def test_what_tools_say_is_text(make_client: MakeClient) -> None:
    """In the list and on the tool's own page; hidden characters are seen."""
    client = await make_client(*TOOLS)

    pages = [(await client.get(f"/console/{path}")).text for path in ("tools", "tools/hostile")]

    shown = HOSTILE.replace("\u202e", r"\u202e").replace("\x1b", r"\u001b")
    assert all(shown in unescape(page) and "<img" not in page and "<script>alert" not in page for page in pages)
    assert not any(character in page for page in pages for character in "\u202e\x1b")


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({}, 200),
        ({"console": "off"}, 404),
        ({"host": "0.0.0.0", "allow_unauthenticated": True}, 404),
        ({"host": "0.0.0.0", "allow_unauthenticated": True, "console": "on"}, 200),
        ({"host": "::1"}, 200),
        ({"host": "localhost"}, 200),
        ({"features_off": ("console",)}, 404),
        ({"host": "0.0.0.0", "auth": ("gateway",), "caller_header": "X-User"}, 401),
    ],
)
async def test_there_is_a_console_where_it_is_safe(
    make_client: MakeClient, settings: dict[str, object], status: int
) -> None:
    """Or where the operator wants it; without it `/` leads to the reference."""
    client = await make_client(*TOOLS, **settings)

    assert (await client.get("/console/tools")).status_code == status
    assert (await client.get("/")).headers["location"] == ("docs" if status == 404 else "console")
    assert (await client.get("/console/static/0/console.css")).status_code == (404 if status == 404 else 200)


async def test_a_list_is_narrowed_by_words_and_tags(make_client: MakeClient) -> None:
    """All words have to be there, in any order."""
    client = await make_client(*TOOLS)

    found = {
        query: re.findall(r'<span class="name">(\w+)', (await client.get(f"/console/tools?{query}")).text)
        for query in ("q=customer+MONEY", "q=count", "tag=shop", "q=order&tag=shop", "q=nothing+else")
    }

    assert found == {
        "q=customer+MONEY": ["refund"],
        "q=count": ["count_slowly"],
        "tag=shop": ["place_order", "refund"],
        "q=order&tag=shop": ["place_order"],
        "q=nothing+else": [],
    }


async def test_the_pages_are_not_of_the_api(make_client: MakeClient) -> None:
    """Its document does not have them."""
    client = await make_client(*TOOLS)

    assert [path for path in (await client.get("/openapi.json")).json()["paths"] if "console" in path] == []
