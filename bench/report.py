"""Write what was found: Markdown for people, JSON for programs, and the quotation in the documentation."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.quotation import Quotation
from bench.results import Figure, Part

QUOTED = Quotation("<!-- recorded by python -m bench --record -->", "<!-- end of the record -->")
QUOTED_SIZES = Quotation("<!-- recorded by python -m bench --only sizing --record -->", "<!-- end of the record -->")
_PROMISES = ("", "measured", "lowest to highest", "by server CPU", "bar", "")


def markdown(parts: Sequence[Part], machine: Mapping[str, str]) -> str:
    """Return the report: the promised figures, a table for each part, what is missing, the machine."""
    figures = [figure for part in parts for figure in part.figures]
    skipped = {name: reason for part in parts for name, reason in part.skipped.items()}
    sections = [
        _section("Promised figures", _PROMISES, [_promise(figure) for figure in figures]) if figures else "",
        *(_section(part.title, part.columns, part.rows) for part in parts),
        _section("Not measured", ("", "reason"), list(skipped.items())) if skipped else "",
        _section("Machine and versions", ("", ""), list(machine.items())),
    ]
    return "\n".join(section for section in sections if section)


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # All columns but the first hold figures, save in the last two sections.
    rule = ["---"] + ["---:" if len(columns) > 2 else "---"] * (len(columns) - 1)
    return f"### {title}\n\n" + "".join(_row(cells) for cells in (columns, rule, *rows))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _promise(figure: Figure) -> tuple[str, ...]:
    found = figure.measured
    bar = f"{'≥' if figure.at_least else '≤'} {_number(figure.bar)}"
    aim = f" (aim {_number(figure.aim)})" if figure.aim is not None else ""
    return (
        figure.name,
        f"{_number(found.median)} {figure.unit}".strip(),
        f"{_number(found.low)} to {_number(found.high)}",
        "" if figure.by_processor is None else _number(figure.by_processor),
        bar + aim,
        "met" if figure.met else "**missed**",
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def as_json(parts: Sequence[Part], machine: Mapping[str, str]) -> str:
    """Return everything, the figures of each round included."""
    return json.dumps({"machine": dict(machine), "parts": [asdict(part) for part in parts]}, indent=1) + "\n"


def write(
    folder: Path, parts: Sequence[Part], machine: Mapping[str, str], chart: str | None, name: str = "latest"
) -> None:
    """Write the files of one run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(as_json(parts, machine))
    (folder / f"{name}.md").write_text(markdown(parts, machine))
    if chart is not None:
        (folder / "chart.svg").write_text(chart)
