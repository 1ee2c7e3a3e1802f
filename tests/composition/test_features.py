"""Which features a server takes: its own, and those of installed packages."""

from pathlib import Path

import pytest

from sidecall import Registry
from sidecall.composition.features import Features, FeatureUnfit, list_setting_names, load_features
from sidecall.composition.local_pipeline import default_stages
from sidecall.feature import FailurePlace, Place, Start
from sidecall.features.ledger.open_ledger import IN_MEMORY
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.composition.conftest import Install


def test_installed_features_come_behind_our_own(install: Install) -> None:
    """And only where entry points are looked at."""
    install('FEATURE = Feature(name="extra", needs=("calls",))')

    assert load_features(use_entry_points=True)[-1].name == "extra"
    assert "extra" not in [feature.name for feature in load_features(use_entry_points=False)]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("FEATURE = 1 / 0", "the feature extra (extra_feature:FEATURE) cannot be loaded: division by zero"),
        ("FEATURE = 3", "the feature extra (extra_feature:FEATURE) is no sidecall.feature.Feature"),
        ('FEATURE = Feature(name="audit")', "there are two features named audit"),
        (
            'FEATURE = Feature(name="extra", needs=("calls", "moon"))',
            "the feature extra needs moon, and there is no such feature",
        ),
        (
            'FEATURE = Feature(name="extra", routes=(Route("GET", "/tools", "a:b"),))',
            "the features tools and extra both have GET /tools",
        ),
        (
            'FEATURE = Feature(name="extra", commands={"status": "a:b"})',
            "the features status and extra both have the command status",
        ),
        (
            "from pydantic_settings import BaseSettings\n"
            "class Extra(BaseSettings):\n    port: int = 1\n"
            'FEATURE = Feature(name="extra", settings=Extra)',
            "the setting port of the feature extra has to begin with extra_",
        ),
    ],
)
def test_a_feature_that_does_not_fit_stops_the_start(install: Install, source: str, message: str) -> None:
    """And says which it is."""
    install(source)

    with pytest.raises(FeatureUnfit) as refused:
        load_features(use_entry_points=True)

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the feature extra has no migrations in {folder}"),
        (
            {"migrations/0001_calls.sql": "CREATE TABLE calls_of_mine (id text)"},
            "calls_of_mine of the feature extra has to begin with extra_",
        ),
        (
            {"migrations/0001_a.sql": "CREATE TABLE extra_a (id text)", "queries.sql": "-- name: list_a\nSELECT 1"},
            "list_a of the feature extra has to begin with extra_",
        ),
        (
            {"migrations/0001_a.sql": "CREATE TABLE extra_a (id text)", "queries.sql": "SELECT 1"},
            "the tables of the feature extra cannot be read: extra ({folder}/queries.sql): no name stands above "
            "'SELECT 1'; write -- name: find_call",
        ),
        (
            {"migrations/first.sql": "CREATE TABLE extra_a (id text)"},
            "the tables of the feature extra cannot be read: invalid literal for int() with base 10: 'firs'",
        ),
    ],
)
def test_tables_that_do_not_fit_stop_the_start(
    install: Install, tmp_path: Path, files: dict[str, str], message: str
) -> None:
    """Their names are kept apart from ours, also from later ones."""
    package = tmp_path / "extra_tables"
    (package / "migrations").mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, text in files.items():
        (package / name).write_text(text)
    install('FEATURE = Feature(name="extra", tables="extra_tables")')

    with pytest.raises(FeatureUnfit) as refused:
        load_features(use_entry_points=True)

    assert str(refused.value) == message.format(folder=package)


def test_tables_in_no_package_stop_the_start(install: Install) -> None:
    """As those of a package that is not installed."""
    install('FEATURE = Feature(name="extra", tables="nowhere_tables")')

    with pytest.raises(FeatureUnfit, match="the feature extra has tables in nowhere_tables, which is no package"):
        load_features(use_entry_points=True)


def _choose_extra() -> Features:
    """Take the feature that is installed, alone."""
    there = tuple(feature for feature in load_features(use_entry_points=True) if feature.name == "extra")
    return Features(there, Registry(), Settings(store=IN_MEMORY))


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            "[Stage(Place.ANNOTATE, print), Stage(Place.ANNOTATE, print)]",
            "the feature extra has two steps at Place.ANNOTATE",
        ),
        ("[Stage(Place.EXECUTE, print)]", "the feature extra has a step at EXECUTE, where only tools run"),
        ("[Stage(Place.FORMAT, print)]", "the feature extra has a step at FORMAT, where only tools run"),
    ],
)
def test_steps_that_do_not_fit_stop_the_start(install: Install, stages: str, message: str) -> None:
    """A feature has one step a place, and none where tools run."""
    install(f'FEATURE = Feature(name="extra", build=lambda host: Built(stages={stages}))')
    features = _choose_extra()

    with pytest.raises(FeatureUnfit) as refused:
        _ = features.built.stages

    assert str(refused.value) == message


def test_the_same_place_of_success_and_failure_are_two(install: Install) -> None:
    """A feature may take both."""
    stages = "[Stage(Place.ANNOTATE, print), Stage(FailurePlace.ANNOTATE, print)]"
    install(f'FEATURE = Feature(name="extra", build=lambda host: Built(stages={stages}))')

    features = _choose_extra()

    assert [stage.place for stage in features.built.stages] == [Place.ANNOTATE, FailurePlace.ANNOTATE]


def test_no_place_of_success_is_taken_for_one_of_failure(install: Install) -> None:
    """Though both are the second of theirs."""
    install(
        'FEATURE = Feature(name="extra", build=lambda host: Built('
        "stages=[Stage(Place.RECALL, print), Stage(FailurePlace.RELEASE, print)]))"
    )

    features = _choose_extra()

    assert [stage.place for stage in features.built.stages] == [Place.RECALL, FailurePlace.RELEASE]


NAMED = """
def build(host):
    return Built(status={"asked": lambda: host.server.budget})

FEATURE = Feature(name="extra", settings_off={"budget": None}, build="extra_feature:build")
"""


@pytest.mark.parametrize(("budget", "status"), [("1/day", ["extra"]), (None, [])])
def test_what_a_feature_names_runs_where_the_settings_ask_for_it(
    install: Install, budget: str | None, status: list[str]
) -> None:
    """Other servers do not load it."""
    install(NAMED)

    features = Features((load_features(use_entry_points=True)[-1],), Registry(), Settings(budget=budget))

    assert list(features.status) == status


PART = """
def make_part(start):
    return [start.server.budget, start.registry]

FEATURE = Feature(
    name="extra",
    settings_off={"budget": None},
    part="extra_feature:make_part",
    build=lambda host: Built(status={"part": lambda: host.part}),
)
"""


@pytest.mark.parametrize("budget", ["1/day", None])
def test_the_part_of_a_feature_is_made_where_the_settings_ask_for_it(install: Install, budget: str | None) -> None:
    """What is built of it finds it, and so does the rest of the server, which has another one elsewhere."""
    install(PART)
    registry, settings = Registry(), Settings(budget=budget)
    features = Features((load_features(use_entry_points=True)[-1],), registry, settings)

    features = features.with_parts(Start(registry=registry, server=settings))
    built = features.status["extra"]["part"]()

    made = None if budget is None else ["1/day", registry]
    assert (built, features.find_part("extra", None)) == (made, made)
    assert features.find_part("another", 3) == 3


ASKED = """
def build(host):
    return Built(status={"built": lambda: True})

FEATURE = Feature(name="extra", asked=lambda settings: settings.threads == 2, build="extra_feature:build")
"""


@pytest.mark.parametrize(("threads", "status"), [(2, ["extra"]), (3, [])])
def test_a_feature_may_decide_which_settings_ask_for_what_it_names(
    install: Install, threads: int, status: list[str]
) -> None:
    """Where that takes more than that a setting is set."""
    install(ASKED)

    features = Features((load_features(use_entry_points=True)[-1],), Registry(), Settings(threads=threads))

    assert list(features.status) == status


@pytest.mark.parametrize(
    ("build", "extra", "message"),
    [
        ("extra_feature:gone", None, "extra_feature:gone of the feature extra cannot be loaded: module "),
        ("extra_library:build", None, "extra_library:build of the feature extra cannot be loaded: No module named"),
        ("extra_feature:gone", "mine[s3]", "extra_feature:gone of the feature extra cannot be loaded: module "),
        ("extra_library:build", "mine[s3]", r"the feature extra needs an extra: pip install 'mine\[s3\]' \(No module"),
    ],
)
def test_what_a_feature_names_has_to_be_there(install: Install, build: str, extra: str | None, message: str) -> None:
    """Or the start says of which feature it is, and what to install where that has an extra for it."""
    install(f'FEATURE = Feature(name="extra", settings_off={{"budget": None}}, build={build!r}, extra={extra!r})')
    features = Features((load_features(use_entry_points=True)[-1],), Registry(), Settings(budget="1/day"))

    with pytest.raises(FeatureUnfit, match=message):
        _ = features.status


def test_our_own_steps_stand_in_the_order_of_their_places() -> None:
    """So a further step goes behind those of its place, and the list is read from the top."""
    parts = create_app(Settings(store=IN_MEMORY, entry_points=False), Registry()).state.parts
    stages = default_stages({}, parts.approvals)

    for listed in (stages.success, stages.failure):
        places = [stage.place for stage in listed]
        assert places == sorted(places, key=lambda place: place.value)
    assert stages.add([]) == stages


def test_settings_of_features_are_known_by_name(install: Install) -> None:
    """So that their variables are no mistakes."""
    install(
        "from pydantic_settings import BaseSettings\n"
        "class Extra(BaseSettings):\n    extra_port: int = 1\n"
        'FEATURE = Feature(name="extra", settings=Extra)'
    )

    assert list_setting_names(load_features(use_entry_points=True)) == {"extra_port"}
