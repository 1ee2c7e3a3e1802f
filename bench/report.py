"""Write records for people: pages with all tables, and the promised figures for the documentation."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from bench.records import Record
from bench.results import Bar, Figure

_PAGE_HEADS = ("", "measured", "lowest to highest", "by server CPU", "bar", "")
_HEADS = ("", "measured", "bar", "")


def write_page(title: str, records: Sequence[Record]) -> str:
    """Return a page: how many promises are met, and for each part its promises, its last table and what is missing."""
    figures = [figure for record in records for figure in record.figures]
    missed = [f"- {figure.name}: {_measured(figure)}, {_bar(figure)}" for figure in figures if not figure.met]
    met = f"{len(figures) - len(missed)} of {len(figures)} promised figures are met.\n"
    summary = [met, "Missed:\n\n" + "\n".join(missed) + "\n" if missed else ""] if figures else []
    return "\n".join(filter(None, (f"# {title}\n", *summary, *map(_write_record, records))))


def _write_record(record: Record) -> str:
    last = record.parts[-1]
    sections = [
        f"## {last.title}\n",
        f"{tell_when([record])}{_tell_how_long(record)}\n",
        f"Machine and versions: {_tell_versions(record.machine)}\n",
        write_table(_PAGE_HEADS, map(_promise, record.figures)) if record.figures else "",
        "The table is that of the last run.\n" if record.runs > 1 else "",
        write_table(last.columns, last.rows) if last.rows else "",
        write_table(("not measured", "reason"), record.skipped.items()) if record.skipped else "",
    ]
    return "\n".join(filter(None, sections))


def write_block(promised: Mapping[str, Sequence[Bar]], records: Mapping[str, Record]) -> str:
    """Return the promised figures of some parts for the documentation, with those that no run has measured."""
    lines = [_say(bar, records.get(name)) for name, bars in promised.items() for bar in bars]
    tables = [f"{CHARTS[name]}\n" for name in promised if name in CHARTS and name in records]
    tables += [write_table(_HEADS, lines)] if lines else []
    for name in promised:
        if name in TABLES and name in records and (last := records[name].parts[-1]).rows:
            tables.append(write_table(last.columns, last.rows))
    recorded = [records[name] for name in promised if name in records]
    return "\n".join([*tables, tell_when(recorded) + "\n" if recorded else "Not recorded yet.\n"])


# Parts whose tables the documentation quotes too.
TABLES = ("peers", "fleet", "sizing")
# What a document shows of a part that has a chart.
CHARTS: Mapping[str, str] = {"doors": "![What a call costs, by form and door](../bench/results/doors.svg)"}


def _say(bar: Bar, record: Record | None) -> tuple[str, ...]:
    found = None if record is None else record.find(bar.name)
    if found is None:
        return bar.name, "", _bar(bar), "not recorded" if record is None else "not measured"
    return found.name, _measured(found), _bar(found), _verdict(found)


def _promise(figure: Figure) -> tuple[str, ...]:
    found = figure.measured
    return (
        figure.name,
        _measured(figure),
        f"{_number(found.low)} to {_number(found.high)}",
        "" if figure.by_processor is None else _number(figure.by_processor),
        _bar(figure),
        _verdict(figure),
    )


def _measured(figure: Figure) -> str:
    return f"{_number(figure.measured.median)} {figure.unit}".strip()


def _bar(promise: Bar | Figure) -> str:
    aim = f" (aim {_number(promise.aim)})" if promise.aim is not None else ""
    return f"{'≥' if promise.at_least else '≤'} {_number(promise.bar)}{aim}"


def _verdict(figure: Figure) -> str:
    return "met" if figure.met else "**missed**"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def tell_when(records: Iterable[Record]) -> str:
    """Say when and where records were made; those that were made alike are named together."""
    alike: dict[str, list[str]] = {}
    for record in records:
        alike.setdefault(_tell_one(record), []).append(record.name)
    if len(alike) == 1:
        return f"Recorded {next(iter(alike))}"
    return " ".join(f"{', '.join(names)}: recorded {text}" for text, names in alike.items())


def _tell_one(record: Record) -> str:
    day = datetime.fromisoformat(record.recorded)
    runs = f"{record.runs} runs, of which the worst counts," if record.runs > 1 else "one run"
    return (
        f"on {day.day} {day:%B %Y} in {runs} on {record.machine['processor']}, with Python {record.machine['python']}."
    )


def _tell_how_long(record: Record) -> str:
    return f" It took {record.seconds:.0f} s." if record.seconds else ""


def _tell_versions(machine: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {version}" for name, version in machine.items() if name != "processor") + "."


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; all columns but the first hold figures where there are more than two."""
    rule = ["---"] + ["---:" if len(columns) > 2 else "---"] * (len(columns) - 1)
    return "".join(map(_row, (columns, rule, *rows)))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
