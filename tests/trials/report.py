"""Write what the trials found as Markdown."""

from collections.abc import Mapping, Sequence

from tests.trials.finding import Finding

_COLUMNS = ("", "trial", "bar", "measured", "")


def markdown(groups: Mapping[str, Sequence[Finding]], machine: Mapping[str, str]) -> str:
    """Return a table for each group, and below them what they ran on."""
    tables = [_table(name, findings) for name, findings in groups.items() if findings]
    return "\n".join([*tables, ", ".join(machine.values()) + ".\n"])


def _table(name: str, findings: Sequence[Finding]) -> str:
    rows = [_COLUMNS, ("---",) * len(_COLUMNS), *(_cells(finding) for finding in findings)]
    return f"### {name.capitalize()}\n\n" + "".join(_line(cells) for cells in rows)


def _cells(finding: Finding) -> tuple[str, ...]:
    verdict = "met" if finding.is_met else "**missed**"
    return (finding.row, finding.trial, finding.bar, finding.measured, verdict)


def _line(cells: Sequence[str]) -> str:
    # A line break or a pipe would end the row or the cell.
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |\n"
