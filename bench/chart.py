"""Draw the calls per second of each row as a bar."""

from collections.abc import Mapping, Sequence
from html import escape

from bench.rounds import spread

_WIDTH, _LABELS, _LINE, _BAR, _MARGIN = 900, 260, 24, 16, 40
_OURS, _PEERS, _FLOORS = "#2563eb", "#d97706", "#9ca3af"
_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    ' font-family="system-ui, sans-serif" font-size="13" role="img" aria-label="{title}">\n'
    '<rect width="100%" height="100%" fill="#ffffff"/>\n'
    '<text x="12" y="24" font-size="15" font-weight="600" fill="#111827">{title}</text>\n'
    "{bars}</svg>\n"
)
_ONE = (
    '<text x="{label_x}" y="{text_y}" text-anchor="end" fill="#111827">{name}</text>'
    '<rect x="{bar_x}" y="{bar_y}" width="{width:.1f}" height="{height}" rx="2" fill="{color}"/>'
    '<text x="{value_x:.1f}" y="{text_y}" fill="#374151">{value:,.0f}</text>\n'
)


def draw(title: str, series: Mapping[str, Sequence[float]]) -> str:
    """Return an SVG with the median of each row, the highest first; Sidecall blue, peers orange, floors gray."""
    medians = {name: spread(figures).median for name, figures in series.items()}
    ordered = sorted(medians.items(), key=lambda item: -item[1])
    scale = (_WIDTH - _LABELS - 90) / max([1.0, *medians.values()])
    bars = "".join(_bar(index, name, value, scale) for index, (name, value) in enumerate(ordered))
    height = _MARGIN + _LINE * len(ordered) + 12
    return _FRAME.format(width=_WIDTH, height=height, title=escape(title), bars=bars)


def _bar(index: int, name: str, value: float, scale: float) -> str:
    top = _MARGIN + index * _LINE
    return _ONE.format(
        label_x=_LABELS - 8,
        text_y=top + 13,
        name=escape(name),
        bar_x=_LABELS,
        bar_y=top,
        width=value * scale,
        height=_BAR,
        color=_color(name),
        value_x=_LABELS + value * scale + 6,
        value=value,
    )


def _color(name: str) -> str:
    if name.startswith("Sidecall"):
        return _OURS
    return _PEERS if name.endswith((", echo", ", add")) else _FLOORS
