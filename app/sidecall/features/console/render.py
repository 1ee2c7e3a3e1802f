"""Write pages: templates in which every value is text, and headers that let a page do nothing but its own."""

import gzip
import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from pydantic_core import to_json
from rcssmin import cssmin
from starlette.responses import HTMLResponse, Response

from sidecall.features.console import scripts

_HERE = Path(__file__).parent
_STATIC = _HERE / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer` a browser would not say either that a form is sent from here.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Also of answers that are no pages, such as those that lead to one.
PAGE_HEADERS = {**_SAFE, "Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
_FILE_HEADERS = {**_SAFE, "Cache-Control": "public, max-age=31536000, immutable"}
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
# Characters of a text that is shown in letters of one width.
_LONG = 2000
_INDENT = re.compile("^[ ]+", re.MULTILINE)
# Characters that could end the element which data stands in.
_MARKUP = re.compile("[<>&]")
# What is shown of a text that a page has beside other things.
_MOST = 10_000
# Marks that stand above and below a letter. Browsers take minutes for thousands of them on one.
_MARKS = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
# Characters that no reader sees, that turn the text behind them around, or are too many marks: written as their
# numbers.
_HIDDEN = re.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|(?<={_MARKS}{{8}}){_MARKS}"
)


class _Templates(FileSystemLoader):
    """Load templates without the space that their lines begin with; values stand in a page as they are."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text, its place, and what says whether it is still the same."""
        text, place, is_same = super().get_source(environment, template)
        return _INDENT.sub("", text), place, is_same


@cache
def _environment() -> Environment:
    made = Environment(
        loader=_Templates(_HERE / "templates"),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
    )
    made.filters.update(
        data=write_data,
        visible=show_hidden,
        begin=show_begin,
        inner=show_inner,
        length_class=name_length,
        moment=show_moment,
        ago=show_ago,
        json=show_json,
        line=show_line,
        took=show_took,
    )
    made.globals["modules"] = list_modules
    return made


def write_page(template: str, values: Mapping[str, Any], status: int = 200) -> Response:
    """Make the answer that is a page of this template."""
    html = _environment().get_template(template).render(values)
    return HTMLResponse(html, status, PAGE_HEADERS)


def write_data(value: Any) -> Markup:
    """Write a value as JSON that may stand in a script element of the type `application/json`."""
    text = show_hidden(to_json(value, inf_nan_mode="constants").decode())
    return Markup(_MARKUP.sub(_escape, text))  # noqa: S704  what could end the element is escaped


def show_json(value: Any) -> str:
    """Write a value as JSON for people, indented."""
    return to_json(value, indent=2, inf_nan_mode="constants").decode()


def show_line(value: Any) -> str:
    """Write a value as JSON in one line."""
    return to_json(value, inf_nan_mode="constants").decode()


def show_hidden(text: Any) -> str:
    """Return a text in which control characters, and those that turn its direction, are seen as `\\u202e`."""
    return _HIDDEN.sub(_escape, str(text))


def show_begin(text: str) -> str:
    """Return a text as it is shown beside other things: a long one is cut."""
    return show_hidden(text if len(text) <= _MOST else f"{text[:_MOST]}… and {len(text) - _MOST:,} more characters")


def show_inner(text: Any) -> Markup:
    """Return a text that may stand between tags, and not in an attribute: quotes stay as they are, which is shorter."""
    safe = show_hidden(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Markup(safe)  # noqa: S704  what could be markup is escaped


def name_length(text: str) -> str:
    """Name the class of a text: browsers take minutes to lay out a long word of letters that differ in width."""
    return "long" if len(text) > _LONG else ""


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _read_moment(value: str | float | datetime) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    return datetime.fromisoformat(value)


def show_moment(value: str | float | datetime) -> str:
    """Write a moment as `2026-11-28 10:15:02 UTC`."""
    return _read_moment(value).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def show_took(milliseconds: float) -> str:
    """Write how long something took: `12.3 ms`, `4.2 s`, `3 min`."""
    if milliseconds < 1000:
        return f"{milliseconds:.3g} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds / 60:,.3g} min"


_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def show_ago(value: str | float | datetime, now: datetime | None = None) -> str:
    """Write how long ago a moment is, or in how long it will be: `3 minutes ago`, `in 2 hours`."""
    seconds = ((now or datetime.now(UTC)) - _read_moment(value)).total_seconds()
    size = abs(seconds)
    for unit, length in _UNITS:
        if size >= length:
            count = int(size // length)
            words = f"{count} {unit}{'' if count == 1 else 's'}"
            return f"{words} ago" if seconds > 0 else f"in {words}"
    return "now"


@cache
def _list_files() -> Mapping[str, bytes]:
    found = {
        path.relative_to(_STATIC).as_posix(): path.read_text()
        for path in sorted(_STATIC.iterdir())
        if path.suffix in _KINDS
    }
    sheets = {name: cssmin(text) for name, text in found.items() if name.endswith(".css")}
    images = {name: text for name, text in found.items() if name.endswith(".svg")}
    return {name: text.encode() for name, text in {**images, **sheets, **_join_scripts()}.items()}


@cache
def _join_scripts() -> Mapping[str, str]:
    found = {path.relative_to(_STATIC).as_posix(): path.read_text() for path in sorted(_STATIC.rglob("*.js"))}
    return scripts.join(found)


@cache
def name_version() -> str:
    """Name the present version of all files, which is a part of their addresses: each may be kept for ever."""
    digest = hashlib.sha256()
    for name, content in _list_files().items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


@cache
def list_modules(name: str) -> tuple[str, ...]:
    """List a script and those that it imports, so that a page asks for all of them at once."""
    return scripts.list_needed(_join_scripts(), name)


@cache
def _compress(name: str) -> bytes:
    return gzip.compress(_list_files()[name], mtime=0)


def write_file(path: str, *, is_packed: bool = False) -> Response | None:
    """Make the answer that is a file, by its version and name, compressed if wanted; None where there is none."""
    version, _, name = path.partition("/")
    content = _list_files().get(name)
    if content is None:
        return None
    kind = _KINDS[Path(name).suffix]
    packed = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"} if is_packed else {"Vary": "Accept-Encoding"}
    # A page of another version, as while servers are exchanged, gets what there is, and keeps nothing of it.
    headers = _FILE_HEADERS if version == name_version() else {**_SAFE, "Cache-Control": "no-store"}
    return Response(_compress(name) if is_packed else content, 200, {**headers, **packed}, media_type=kind)
