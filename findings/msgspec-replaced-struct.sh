#!/usr/bin/env bash
# msgspec 0.22.0 with mypy 2.4.1: `dataclasses.replace`, `asdict` and `fields` of a `Struct` pass `mypy --strict`, and
# raise TypeError when they run. To type checkers a Struct is a dataclass (it is marked with `dataclass_transform`).
# A good guess would be that mypy guards a move from dataclasses to Structs. It does not: their functions in the standard
# library stay accepted, and each has to be looked for.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check msgspec==0.22.0 mypy==2.4.1
cat >"$work/show.py" <<'PYTHON'
import dataclasses

import msgspec


class Point(msgspec.Struct, frozen=True):
    x: int
    y: int = 0


point = Point(1)
for name, use in (
    ("replace", lambda: dataclasses.replace(point, y=2)),
    ("asdict", lambda: dataclasses.asdict(point)),
    ("fields", lambda: dataclasses.fields(point)),
):
    try:
        print(name, use())
    except TypeError as error:
        print(name, "raises TypeError:", error)
print("msgspec's own:", msgspec.structs.replace(point, y=2))
PYTHON
{
    "$work/env/bin/python" -m mypy --version | cut -d' ' -f1,2
    (cd "$work" && "$work/env/bin/python" -m mypy --strict show.py)
    "$work/env/bin/python" "$work/show.py"
} | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
mypy 2.4.1
Success: no issues found in 1 source file
replace raises TypeError: replace() should be called on dataclass instances
asdict raises TypeError: asdict() should be called on dataclass instances
fields raises TypeError: must be called with a dataclass type or instance
msgspec's own: Point(x=1, y=2)
SEEN
