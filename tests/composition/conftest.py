"""What tests of features start from: a package with one, installed."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sidecall.composition.features import load_features

Install = Callable[[str], None]
FEATURE = "from sidecall.feature import Built, Check, Feature, Place, FailurePlace, Route, Stage\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Give a function that installs a package with this feature, as pip lays it out."""

    def write(source: str) -> None:
        (tmp_path / "extra_feature.py").write_text(FEATURE + source)
        folder = tmp_path / "extra-1.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: extra\nVersion: 1\n")
        (folder / "entry_points.txt").write_text("[sidecall.features]\nextra = extra_feature:FEATURE\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "extra_feature", raising=False)

    load_features.cache_clear()
    yield write
    load_features.cache_clear()
