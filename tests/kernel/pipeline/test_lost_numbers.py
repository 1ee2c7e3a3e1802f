"""Numbers that JSON does not have are named with their places, up to a bound."""

import math
from typing import Any

import pytest

from sidecall.kernel.json_data.to_json import to_plain, to_text
from sidecall.kernel.pipeline.format import LostNumbers


@pytest.mark.parametrize(
    ("value", "part", "notes"),
    [
        ({"a": 1.5}, "content", []),
        (math.nan, "content", ["NaN as the content was sent as null"]),
        ({"rows": [{}, {"price": math.nan}]}, "content", ["NaN at `rows[1].price` was sent as null"]),
        ([math.inf, -math.inf], "artifact", [
            "Infinity at `[0]` of the artifact was sent as null",
            "-Infinity at `[1]` of the artifact was sent as null",
        ]),
    ],
)  # fmt: skip
def test_each_place_is_named(value: Any, part: str, notes: list[str]) -> None:
    """In one sentence."""
    lost = LostNumbers()
    to_plain(value, lost.of(part))

    assert lost.notes == notes


@pytest.mark.parametrize(
    ("in_artifact", "count", "last"),
    [
        (5, 20, "NaN at `[4]` of the artifact was sent as null"),
        (6, 21, "1 more number that JSON does not have became null"),
        (985, 21, "980 more numbers that JSON does not have became null"),
    ],
)
def test_the_list_has_an_end(in_artifact: int, count: int, last: str) -> None:
    """Over all parts together."""
    lost = LostNumbers()

    to_text([math.nan] * 15, lost.of("content"))
    to_text([math.nan] * in_artifact, lost.of("artifact"))

    assert (len(lost.notes), lost.notes[-1]) == (count, last)
