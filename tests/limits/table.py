"""The table of docs/limits.md: what an outsider can make grow."""

from dataclasses import dataclass

from tests.kit.sources import ROOT

PAGE = ROOT / "docs" / "limits.md"
_HEAD = "| what grows | setting | bound | beyond it |\n|---|---|---|---|\n"


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what grows, the name of its setting (None where it is fixed), the bound, and what is answered."""

    what: str
    setting: str | None
    bound: str
    answer: str


def read_rows() -> list[Row]:
    """Read the rows, but for those that are headings."""
    lines = PAGE.read_text().partition(_HEAD)[2].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [Row(what, _read_setting(setting), bound, answer) for what, setting, bound, answer in cells if answer]


def _read_setting(cell: str) -> str | None:
    return None if cell == "fixed" else cell.strip("`").removeprefix("SIDECALL_").lower()
