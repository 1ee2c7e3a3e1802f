"""Records of what parts have measured, when and where: a file each, so that one can be recorded without the others."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.results import Figure, Part

FOLDER = "parts"


@dataclass(frozen=True)
class Record:
    """What a part has measured: in each run a part, of each promised figure the run that is worst for it."""

    name: str
    recorded: str
    runs: int
    rounds: int
    seconds: float
    machine: Mapping[str, str]
    figures: tuple[Figure, ...]
    parts: tuple[Part, ...]

    @property
    def skipped(self) -> dict[str, str]:
        """What no run has measured, with the reason."""
        measured = {name for part in self.parts for name in part.series}
        reasons = {name: reason for part in self.parts for name, reason in part.skipped.items()}
        return {name: reason for name, reason in reasons.items() if name not in measured}

    def find(self, name: str) -> Figure | None:
        """Return a promised figure; None when it could not be measured."""
        return next((figure for figure in self.figures if figure.name == name), None)


def write(folder: Path, record: Record) -> None:
    """Write a record in the place of an earlier one of the same part."""
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(record), indent=1)
    (place / f"{record.name}.json").write_bytes(text + b"\n")


def read_all(folder: Path) -> dict[str, Record]:
    """Return the record of each part that has one."""
    files = sorted((folder / FOLDER).glob("*.json"))
    return {file.stem: msgspec.json.decode(file.read_bytes(), type=Record) for file in files}
