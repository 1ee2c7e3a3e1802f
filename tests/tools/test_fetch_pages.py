"""What can be seen of a page is read, and what cannot is not."""

# ruff: noqa: RUF001  pages and attackers write such characters

import re

import httpx
import pytest

from tests.tools import shipped

module = shipped.load("fetch")

# Six pages, each with six facts; `{...}` has what nobody may read.
ARTICLE = """<!doctype html><html><head><title>Tides</title><style>p{}</style><script>track('secret-1')</script></head>
<body><nav><a href="/">Start</a></nav><article><h1>The tides of Fundy</h1>
<p>The range is <strong>16.3 metres</strong> at <em>Burntcoat Head</em>.</p>
<blockquote>High water comes every 12 h 25 min.</blockquote>
<p>Water moved: 160&nbsp;billion tonnes. <a href="https://tides.example/study?x=1&amp;y=2">Study of 1987</a></p>
<ul><li>Port: Saint John</ul></article>
<div hidden>secret-2</div><p style="display:none">secret-3</p><template>secret-4</template></body></html>"""
API = """<html><body><main><h2 id="post">POST /v1/orders</h2><p>Needs the header <code>Idempotency-Key</code>.</p>
<table><thead><tr><th>field</th><th>type</th></tr></thead><tbody><tr><td>amount</td><td>integer, cents</td></tr>
<tr><td>currency</td><td>ISO 4217</td></tr></tbody></table><pre><code class="language-bash">curl -X POST \\
  https://api.example/v1/orders</code></pre><dl><dt>409</dt><dd>The key was used for another order.</dd></dl>
<span style="font-size:0">secret-5</span><span style="visibility: hidden">secret-6</span></main></body></html>"""
SHOP = """<html><body><div class="product"><h1>Kettle &ldquo;Nord&rdquo;</h1><span class="price">€ 49,90</span>
<img src="/kettle.jpg" alt="A red kettle"><p>1.7 litres, <b>2200&nbsp;W</b></p><p>In stock: 3</p>
<a href="javascript:buy()">Buy</a> <a href="/terms">30 days' return</a>
<p aria-hidden="true">secret-7</p><p style="opacity:0">secret-8</p><input type="hidden" value="secret-9"></div>
</body></html>"""
RESULTS = """<html><body><ol><li><h3><a href="https://a.example/1">Heron count 2025</a></h3><p>412 pairs</p></li>
<li><h3><a href="https://b.example/2">Heron count 2024</a></h3><p>398 pairs</p></li></ol><p>Page 1 of 7</p>
<p>About 86 results</p><div style="position:absolute;left:-9999px">secret-10</div>
<div style="clip:rect(0 0 0 0)">secret-11</div><!-- secret-12 --></body></html>"""
FORUM = """<html><body><section><div class="post"><span>mira_k</span><time>3 May 2026</time><p>Use <code>fsync</code>
on the folder too.</p></div><div class="post"><span>oleg77</span><blockquote>on the folder too</blockquote><p>That cost
me 2.4&nbsp;ms.</p></div></section><p style="color:transparent">secret-13</p><p style="text-indent:-9999em">secret-14
</p><p>Seen&#x200b; by 1,204 readers\U000e0069\U000e0067\U000e006e</p></body></html>"""
BROKEN = """<p>Opening hours<table><tr><td>Mon<td>9–17<tr><td>Sat<td>10–14</table><b>Closed on 24&#46;12&#x2e;
<i>Tel. 0431 555<p>Ask for Jo &amp; Kim<p>Bus 11<div STYLE='DISPLAY : NONE !important'>secret-15</div>
<p style="transform: scale(0)">secret-16</p><noscript>secret-17</noscript>"""
PAGES = {
    "article": (
        ARTICLE,
        ("# The tides of Fundy", "16.3 metres", "Burntcoat Head", "12 h 25 min", "160 billion", "Saint John"),
    ),
    "api": (
        API,
        ("POST /v1/orders", "`Idempotency-Key`", "| amount", "ISO 4217", "https://api.example/v1/orders", "409"),
    ),
    "shop": (SHOP, ("Kettle “Nord”", "49,90", "A red kettle", "2200 W", "In stock: 3", "30 days' return")),
    "results": (
        RESULTS,
        (
            "[Heron count 2025](https://a.example/1)",
            "412 pairs",
            "Heron count 2024",
            "398 pairs",
            "1 of 7",
            "86 results",
        ),
    ),
    "forum": (FORUM, ("mira_k", "3 May 2026", "`fsync`", "oleg77", "2.4 ms", "1,204 readers")),
    "broken": (BROKEN, ("Opening hours", "9–17", "10–14", "24.12.", "0431 555", "Jo & Kim")),
}


def read(page: str) -> str:
    """Read a page as the tool does."""
    response = httpx.Response(200, content=page.encode(), request=httpx.Request("GET", "https://x.example/d/"))
    text = module._write(response, "text/html")
    assert isinstance(text, str)
    return text.replace("\xa0", " ")


@pytest.mark.parametrize("name", PAGES)
def test_all_facts_are_kept(name: str) -> None:
    """And nothing that is hidden, in any of the ways in which elements are."""
    page, facts = PAGES[name]
    text = read(page)

    assert [fact for fact in facts if fact not in text] == []
    assert re.findall(r"secret-\d+", text) == []
    assert re.findall("[\u200b\U000e0000-\U000e007f]", text) == []


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<a href="javascript:alert(1)">x</a>', "[x]"),
        ('<a href=" JaVa&#115;cript:x()">x</a>', "[x]"),
        ('<a href="java\nscript:x">x</a>', "[x]"),
        ('<a href="data:text/html,<script>alert(1) )</script>">x</a>', "[x]"),
        ('<a href="vbscript:a b>c">x</a>', "[x]"),
        ('<img src="data:image/png;base64,AAAA" alt="dot">', "![dot]"),
        ('<iframe src="javascript:1"></iframe>', "[iframe]"),
        ('<a href="javascript:x">javascript:x</a>', "](#"),
        ('<a href="https://ok.example/a?b=(c)" title="T)">x</a>', '[x](https://ok.example/a?b=(c) "T)")'),
        ('<a href="/up">x</a> <a href="mailto:a@b.example">y</a>', "[x](https://x.example/up) [y](mailto:a@b.example)"),
    ],
)
def test_links_that_run_something_are_dropped(html: str, text: str) -> None:
    """Their words stay."""
    assert read(html) == text


@pytest.mark.parametrize(
    "style",
    ["opacity:0.5", "opacity:.05", "font-size:0.9em", "left:-10px", "color:red", "visibility:visible", "width:0"],
)
def test_what_can_be_seen_is_kept(style: str) -> None:
    """No matter what its style looks like."""
    assert read(f'<p style="{style}">here</p>') == "here"


def test_code_about_styles_is_kept() -> None:
    """It is text, not a style."""
    assert read('<pre><code>&lt;p style="display:none"&gt;</code></pre>') == '```\n<p style="display:none">\n```'
