"""The features of a server: those of this package, and those of packages that are installed beside it."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, TypeVar, get_args

from sidecall.composition.requirements import FeatureUnfit, is_asked_for, leave_out, make_requirements
from sidecall.feature import Built, Feature, Host, Place, Route, Stage, Start, build_nothing, run_nothing
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import load_function
from sidecall.rest.route_table import HEALTH, TOOL_CALLS, TOOLS
from sidecall.storage.database import Dialect
from sidecall.storage.feature_tables import FeatureTables, find_tables, list_steps
from sidecall.storage.statements import read_statements

GROUP = "sidecall.features"
T = TypeVar("T")
# The one order: in it routes are matched and listed. `/tools/search` has to come before `/tools/{name}`.
_OWN: tuple[str | Feature, ...] = (
    "console",
    "search",
    Feature(name="tools", routes=TOOLS, can_be_off=False),
    "openapi_export",
    Feature(name="tool_calls", routes=TOOL_CALLS, can_be_off=False),
    *("calls", "history", "contents", "workspaces", "approvals", "conversations", "audit", "credentials", "access"),
    Feature(name="health", routes=HEALTH, can_be_off=False),
    *("status", "vector_stores", "reload", "telemetry", "mcp_server", "toolkits", "remote_agents", "contract"),
    "costs",
    # Without routes; executors are listed in this order. No plain server loads anything of the folder of the last.
    *("cache", "processes", "fleet", "jobs", "mcp_client", "native_tools", "openapi_import", "rates", "sandbox"),
    "store",
    *("toolsets", "webhooks", "approval_webhooks"),
    Feature(name="file_tools", needs=("workspaces",)),
)


@cache
def load_features(*, use_entry_points: bool) -> tuple[Feature, ...]:
    """Load the features of this package, and those that installed packages name in the group `sidecall.features`.

    They are looked for once in a process.

    Raises:
        FeatureUnfit: One cannot be loaded, needs another that is not there, or takes a name that is taken.
    """
    found = [_load_own(it) if isinstance(it, str) else it for it in _OWN]
    if use_entry_points:
        found += [_load_entry_point(it) for it in sorted(entry_points(group=GROUP), key=lambda it: it.name)]
    _refuse_unfit(found)
    return tuple(found)


def _load_own(name: str) -> Feature:
    feature: Feature = import_module(f"sidecall.features.{name}.feature").FEATURE
    return feature


def _load_entry_point(entry: EntryPoint) -> Feature:
    try:
        feature = entry.load()
    except Exception as error:
        raise FeatureUnfit(f"the feature {entry.name} ({entry.value}) cannot be loaded: {error}") from error
    if not isinstance(feature, Feature):
        raise FeatureUnfit(f"the feature {entry.name} ({entry.value}) is no sidecall.feature.Feature")
    return feature


def _refuse_unfit(features: Iterable[Feature]) -> None:
    names: set[str] = set()
    routes: dict[tuple[str, str], str] = {}
    commands: dict[str, str] = {}
    methods: dict[str, str] = {}
    for feature in features:
        if feature.name in names:
            raise FeatureUnfit(f"there are two features named {feature.name}")
        names.add(feature.name)
        for route in feature.routes:
            _take(routes, (route.method, route.path), f"{route.method} {route.path}", feature.name)
        for command in feature.commands:
            _take(commands, command, f"the command {command}", feature.name)
        for method in feature.mcp_methods:
            _take(methods, method, f"the MCP method {method}", feature.name)
        _refuse_settings(feature)
        _refuse_tables(feature)
    for feature in features:
        if missing := sorted(set(feature.needs) - names):
            raise FeatureUnfit(f"the feature {feature.name} needs {', '.join(missing)}, and there is no such feature")


def _take(taken: dict[Any, str], key: Any, text: str, name: str) -> None:
    if key in taken:
        raise FeatureUnfit(f"the features {taken[key]} and {name} both have {text}")
    taken[key] = name


def _refuse_settings(feature: Feature) -> None:
    for name in feature.settings.model_fields if feature.settings is not None else ():
        if not name.startswith(f"{feature.name}_"):
            raise FeatureUnfit(f"the setting {name} of the feature {feature.name} has to begin with {feature.name}_")


def choose_features(settings: Any) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    """Return the features that a server has by its settings, and those that are off.

    Raises:
        FeatureUnfit: One cannot be taken, or not be off.
    """
    every = load_features(use_entry_points=settings.entry_points)
    there = leave_out(every, settings.features_off)
    return there, tuple(feature for feature in every if feature not in there)


def list_setting_names(features: Iterable[Feature]) -> frozenset[str]:
    """Return the names of the settings that features have, in lowercase and without `SIDECALL_`."""
    return frozenset(name for it in features if it.settings is not None for name in it.settings.model_fields)


def list_tables(features: Iterable[Feature]) -> tuple[FeatureTables, ...]:
    """Return where the tables of installed features are described."""
    return tuple(_find_tables(it, it.tables) for it in features if it.tables is not None)


def _find_tables(feature: Feature, package: str) -> FeatureTables:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FeatureUnfit(f"the feature {feature.name} has tables in {package}, which is no package")
    return FeatureTables(feature.name, spec.submodule_search_locations[0])


def _refuse_tables(feature: Feature) -> None:
    if feature.tables is None:
        return
    described = _find_tables(feature, feature.tables)
    for dialect in get_args(Dialect):
        try:
            steps = list_steps(dialect, [described]).get(feature.name, ())
            statements = _list_statements(dialect, described) - _list_statements(dialect)
        except (OSError, ValueError) as error:
            raise FeatureUnfit(f"the tables of the feature {feature.name} cannot be read: {error}") from error
        if not steps:
            raise FeatureUnfit(f"the feature {feature.name} has no migrations in {described.folder}")
        for name in (*find_tables(steps), *sorted(statements)):
            if not name.startswith(f"{feature.name}_"):
                raise FeatureUnfit(f"{name} of the feature {feature.name} has to begin with {feature.name}_")


def _list_statements(dialect: Dialect, *others: FeatureTables) -> set[str]:
    return set(read_statements(dialect, others))


@dataclass(frozen=True)
class Features:
    """The features of one server, each with what it is built of."""

    features: tuple[Feature, ...]
    registry: Registry
    settings: Any
    _: KW_ONLY
    ledger: Any = None
    history: Any = None
    off: tuple[Feature, ...] = ()
    execute: Any = None
    executing: Any = None
    parts: Mapping[str, Any] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Return whether one of these has this name."""
        return any(feature.name == name for feature in self.features)

    def hold_tools(self) -> None:
        """Require that the tools ask for nothing that is missing, now and whenever tools change.

        Raises:
            FeatureMissing: One does.
        """
        hold = make_requirements(self.features, self.off).hold
        for tool in self.registry:
            hold(tool)
        self.registry.check = hold

    def with_parts(self, start: Start) -> "Features":
        """Make the parts of those that the settings ask for.

        Raises:
            FeatureUnfit: One cannot be loaded.
        """
        named = [(it, it.part) for it in self.features if it.part is not None and is_asked_for(it, self.settings)]
        return replace(self, parts={it.name: _load(it, place)(start) for it, place in named})

    def find_part(self, name: str, otherwise: T) -> T:
        """Return the part that a feature of this name has made; another one where the settings do not ask for it."""
        found: T = self.parts.get(name, otherwise)
        return found

    @cached_property
    def _built(self) -> tuple[tuple[Feature, Host, Built], ...]:
        made = []
        for feature in self.features:
            own = None if feature.settings is None else feature.settings()
            host = Host(
                registry=self.registry,
                settings=own,
                server=self.settings,
                ledger=self.ledger,
                history=self.history,
                execute=self.execute,
                executing=self.executing,
                part=self.parts.get(feature.name),
            )
            built = _find(feature, feature.build, self.settings, build_nothing)(host)
            _refuse_stages(feature, built.stages)
            made.append((feature, host, built))
        return tuple(made)

    @property
    def routes(self) -> tuple[Route, ...]:
        """Those that are served, in their order."""
        return tuple(route for it in self.features if it.serves(self.settings) for route in it.routes)

    @property
    def forms(self) -> tuple[str, ...]:
        """The models of bodies that those routes read themselves."""
        return tuple(form for it in self.features if it.serves(self.settings) for form in it.forms)

    @cached_property
    def built(self) -> Built:
        """What all features are built of, joined in their order; their status is in `status`."""
        every = [built for _, _, built in self._built]
        return Built(
            stages=[stage for one in every for stage in one.stages],
            checks=[check for one in every for check in one.checks],
            observers=[notes for one in every for notes in one.observers],
            tools=[tool for one in every for tool in one.tools],
            executors={name: made for one in every for name, made in one.executors.items()},
            services={name: given for one in every for name, given in one.services.items()},
            methods=[make for one in every for make in one.methods],
        )

    @property
    def mcp_methods(self) -> dict[str, str]:
        """Methods of MCP, by name, and where each is."""
        return {name: place for it in self.features for name, place in it.mcp_methods.items()}

    def add_metrics(self, metrics: Any) -> None:
        """Add the numbers of features to those of the server."""
        for _, _, built in self._built:
            built.add_metrics(metrics)

    @property
    def status(self) -> Mapping[str, Mapping[str, Callable[[], Any]]]:
        """Rows of the status, by feature."""
        return {feature.name: built.status for feature, _, built in self._built if built.status}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what features need in their order, and close it in the opposite one."""
        async with AsyncExitStack() as stack:
            for feature, host, _ in self._built:
                run = _find(feature, feature.run, self.settings, run_nothing)
                await stack.enter_async_context(run(host))
            yield


def _find(feature: Feature, function: T | str, settings: Any, nothing: T) -> T:
    """Return a function of a feature; one that is named is loaded where the settings ask for the feature.

    Raises:
        FeatureUnfit: It cannot be loaded.
    """
    if not isinstance(function, str):
        return function
    if not is_asked_for(feature, settings):
        return nothing
    found: T = _load(feature, function)
    return found


def _load(feature: Feature, place: str) -> Any:
    try:
        return load_function(place)
    except ModuleNotFoundError as error:
        if feature.extra is None:
            raise _refuse_place(feature, place, error) from error
        text = f"the feature {feature.name} needs an extra: pip install '{feature.extra}' ({error})"
        raise FeatureUnfit(text) from error
    except (ImportError, AttributeError) as error:
        raise _refuse_place(feature, place, error) from error


def _refuse_place(feature: Feature, place: str, error: Exception) -> FeatureUnfit:
    return FeatureUnfit(f"{place} of the feature {feature.name} cannot be loaded: {error}")


def _refuse_stages(feature: Feature, stages: Iterable[Stage]) -> None:
    places = [stage.place for stage in stages]
    for place in places:
        if places.count(place) > 1:
            raise FeatureUnfit(f"the feature {feature.name} has two steps at {type(place).__name__}.{place.name}")
        if place in (Place.EXECUTE, Place.FORMAT):
            raise FeatureUnfit(f"the feature {feature.name} has a step at {place.name}, where only tools run")
