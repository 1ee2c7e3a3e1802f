"""The pages of all records, the chart, and the documents that quote them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import doors, other_servers
from bench.chart import Bar, draw
from bench.environments import ROOT
from bench.parts import PARTS
from bench.quotation import quote
from bench.records import Record
from bench.report import write_page
from bench.rounds import ratio
from bench.rows import FLOOR

RESULTS = ROOT / "bench" / "results"
DOCUMENTS = tuple(ROOT / "docs" / name for name in ("performance.md", "fleet.md", "sizing.md"))
CHART = "doors.svg"
# The page of each part that does not stand on the one of all others.
_OTHERS: Mapping[str, str] = {"fleet": "fleet.md", "sizing": "sizing.md"}
_TITLES: Mapping[str, str] = {
    "latest.md": "What calls cost, as recorded",
    "fleet.md": "Calls on the workers of a fleet, as recorded",
    "sizing.md": "What one core carries, as recorded",
}
# Bars that are longer are cut.
_LONGEST = 4.0


def write_pages(folder: Path, records: Mapping[str, Record]) -> None:
    """Write the pages and the chart of the records there are."""
    for page, title in _TITLES.items():
        found = [record for name in PARTS if _OTHERS.get(name, "latest.md") == page and (record := records.get(name))]
        if found:
            (folder / page).write_text(write_page(title, found))
    if "doors" in records:
        (folder / CHART).write_text(draw_doors(records["doors"], records.get("peers")))


def quote_all(records: Mapping[str, Record]) -> dict[Path, str]:
    """Return the documents, with what is recorded quoted in them."""
    promises = {name: part.bars for name, part in PARTS.items()}
    return {path: quote(path.read_text(), promises, records) for path in DOCUMENTS}


def draw_doors(record: Record, peers: Record | None) -> str:
    """Draw each form and door, and other servers, by the processor time of a plain call."""
    most = {bar.above: bar.bar for bar in doors.BARS if bar.below == doors.PLAIN and not bar.at_least}
    bars = [
        Bar(name, value, "floor" if name == FLOOR else "ours", most.get(name))
        for name, value in _compare(record, doors.PLAIN).items()
    ]
    if peers is not None:
        names = [name for name in _compare(peers, other_servers.OURS) if name.endswith(other_servers.ECHO)]
        values = _compare(peers, other_servers.OURS)
        bars += sorted((Bar(name, values[name], "peer") for name in names), key=lambda bar: bar.value)
    subtitle = f"Processor time of the server; {doors.PLAIN} is 1. A line marks the most that is promised."
    return draw("What a call costs, by form and door", subtitle, bars, _LONGEST)


def _compare(record: Record, plain: str) -> dict[str, float]:
    """Return each row by the plain call of the same rounds, of all runs."""
    runs: Sequence[Mapping[str, Sequence[float]]] = [part.series for part in record.parts if plain in part.series]
    names = dict.fromkeys(name for series in runs for name in series)
    return {name: _join(runs, name, plain) for name in names}


def _join(runs: Sequence[Mapping[str, Sequence[float]]], name: str, plain: str) -> float:
    pairs = [
        (one, other)
        for series in runs
        if name in series
        for one, other in zip(series[name], series[plain], strict=True)
    ]
    return ratio([one for one, _ in pairs], [other for _, other in pairs]).median
