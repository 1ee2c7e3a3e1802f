"""Quote records in documents: between two marks, of which the first names the parts."""

import re
from collections.abc import Mapping, Sequence

from bench.records import Record
from bench.report import write_block
from bench.results import Bar

_BLOCK = re.compile(
    r"(?P<begin><!-- recorded: (?P<names>[\w, ]+) -->\n).*?(?P<end><!-- end of the record -->)", re.DOTALL
)


def quote(document: str, promises: Mapping[str, Sequence[Bar]], records: Mapping[str, Record]) -> str:
    """Return the document with what was recorded between its marks.

    Where none of the parts has a record, it stays as it is.

    Args:
        document: The text.
        promises: What each part promises.
        records: The records there are.

    Raises:
        ValueError: It has no marks, or names a part that there is not.
    """
    blocks = list(_BLOCK.finditer(document))
    if not blocks or len(blocks) != document.count("<!-- recorded: "):
        raise ValueError("the document lacks marks, or has them in another form")
    return _BLOCK.sub(lambda found: _fill(found, promises, records), document)


def _fill(found: re.Match[str], promises: Mapping[str, Sequence[Bar]], records: Mapping[str, Record]) -> str:
    names = found["names"].split(", ")
    if unknown := [name for name in names if name not in promises]:
        raise ValueError(f"no such part: {', '.join(unknown)}")
    if not records.keys() & set(names):
        return found[0]
    text = write_block({name: promises[name] for name in names}, records)
    return f"{found['begin']}\n{text}\n{found['end']}"
