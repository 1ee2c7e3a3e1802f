"""Draw what a call costs by form and door, and on other servers, as bars; readable on light and on dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _LABELS, _LINE, _BAR, _TOP, _VALUES = 900, 280, 24, 16, 66, 90
_FRAME = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" \
font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="{title}">
<style>
.paper {{ fill: #ffffff }} .text {{ fill: #111827 }} .quiet {{ fill: #4b5563 }} .mark {{ stroke: #111827 }}
.ours {{ fill: #2563eb }} .peer {{ fill: #d97706 }} .floor {{ fill: #9ca3af }}
@media (prefers-color-scheme: dark) {{
.paper {{ fill: #0d1117 }} .text {{ fill: #e6edf3 }} .quiet {{ fill: #9ca3af }} .mark {{ stroke: #e6edf3 }}
.ours {{ fill: #60a5fa }} .peer {{ fill: #f59e0b }} .floor {{ fill: #6b7280 }}
}}
</style>
<rect width="100%" height="100%" class="paper"/>
<text x="12" y="24" font-size="15" font-weight="600" class="text">{title}</text>
<text x="12" y="46" class="quiet">{subtitle}</text>
{bars}</svg>
"""
_NAME = '<text x="{x}" y="{y}" text-anchor="end" class="text">{name}</text>'
_RECT = '<rect x="{x}" y="{y}" width="{width:.1f}" height="{height}" rx="2" class="{kind}"/>'
_MARK = '<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" class="mark" stroke-width="2"/>'
_VALUE = '<text x="{x:.1f}" y="{y}" class="quiet">{value}</text>\n'


@dataclass(frozen=True)
class Bar:
    """A row: its value, a mark for the most that was promised, and whose it is: `ours`, a `peer` or a `floor`."""

    name: str
    value: float
    kind: str
    most: float | None = None


def draw(title: str, subtitle: str, bars: Sequence[Bar], longest: float) -> str:
    """Return an SVG; a bar that is longer than `longest` is cut there, and its number tells how long it is."""
    scale = (_WIDTH - _LABELS - _VALUES) / longest
    rows = "".join(_draw_one(index, bar, scale, longest) for index, bar in enumerate(bars))
    height = _TOP + _LINE * len(bars) + 12
    return _FRAME.format(width=_WIDTH, height=height, title=escape(title), subtitle=escape(subtitle), bars=rows)


def _draw_one(index: int, bar: Bar, scale: float, longest: float) -> str:
    top = _TOP + index * _LINE
    width = min(bar.value, longest) * scale
    mark = "" if bar.most is None else _draw_mark(top, _LABELS + bar.most * scale)
    end = max(width, (bar.most or 0) * scale)
    value = f"{bar.value:.2f}" if bar.value <= longest else f"… {bar.value:.1f}"
    return (
        _NAME.format(x=_LABELS - 8, y=top + 13, name=escape(bar.name))
        + _RECT.format(x=_LABELS, y=top, width=width, height=_BAR, kind=bar.kind)
        + mark
        + _VALUE.format(x=_LABELS + end + 8, y=top + 13, value=value)
    )


def _draw_mark(top: int, x: float) -> str:
    return _MARK.format(x=x, top=top - 2, bottom=top + _BAR + 2)
