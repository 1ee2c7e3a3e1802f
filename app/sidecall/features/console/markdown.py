"""Turn Markdown of tools into safe markup: no HTML, no images, and links that send no referrer."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from sidecall.features.console.render import show_hidden
from sidecall.kernel.concurrency.pools import RESULTS

# Characters of a text that is shown as Markdown; a longer one is text alone.
LONGEST = 32 * 1024
# From this length on it is read in a thread.
_LONG = 2 * 1024
# What hardly any other text has: headings, lists, quotations, fences, links, tables, words in bold.
_SIGNS = re.compile(r"^#{1,6} |^ {0,3}[-*+] |^\d+[.)] |^> |^```|^\|.*\||\[[^\]\n]+\]\(|\*\*[^*\n]+\*\*|`[^`\n]+`", re.M)
_SAFE_LINK = re.compile(r"(?:https?|mailto):", re.IGNORECASE)


async def write_markdown(text: str) -> Markup | None:
    """Write a text as markup; None where it does not look like Markdown, or is too long."""
    if len(text) > LONGEST or _SIGNS.search(text) is None:
        return None
    shown = show_hidden(text)
    return await RESULTS.run(_write, shown) if len(text) > _LONG else _write(shown)


def _write(text: str) -> Markup:
    return Markup(_parser().render(text))  # noqa: S704  the parser escapes all that is no Markdown


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 40}).enable("table").disable("image")
    parser.validateLink = _is_safe  # type: ignore[method-assign]
    parser.add_render_rule("link_open", _open_link)
    # Headings of an answer are not those of the page.
    parser.add_render_rule("heading_open", _open_heading)
    parser.add_render_rule("heading_close", _close_heading)
    return parser


def _is_safe(url: str) -> bool:
    """Return whether a link leads to another host, and nowhere else."""
    return _SAFE_LINK.match(url) is not None


def _open_link(renderer: Any, tokens: Sequence[Any], index: int, _options: Any, _env: Mapping[str, Any]) -> str:
    tokens[index].attrSet("rel", "noopener noreferrer nofollow")
    return str(renderer.renderToken(tokens, index, _options, _env))


def _open_heading(_renderer: Any, _tokens: Sequence[Any], _index: int, _options: Any, _env: Mapping[str, Any]) -> str:
    return '<p><strong class="lead">'


def _close_heading(_renderer: Any, _tokens: Sequence[Any], _index: int, _options: Any, _env: Mapping[str, Any]) -> str:
    return "</strong></p>\n"
