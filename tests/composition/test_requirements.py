"""What is off does not pass for on: tools and settings that ask for it stop the start."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest

from sidecall import Cache, CommandSandbox, InjectedStore, Registry, Secret, Store, UserToken, Workspace, tool
from sidecall.composition.features import FeatureUnfit, load_features
from sidecall.composition.local_pipeline import build_pipeline
from sidecall.composition.requirements import find_dependent, make_requirements
from sidecall.feature import Feature
from sidecall.features.ledger.open_ledger import IN_MEMORY
from sidecall.kernel.core.injection import Source
from sidecall.kernel.core.options import ExecutorName, ToolOptions
from sidecall.kernel.core.requirements import (
    KERNEL_EXECUTORS,
    KERNEL_OPTIONS,
    KERNEL_PARAMETERS,
    FeatureMissing,
)
from sidecall.main import create_app
from sidecall.settings import Settings

FEATURES = load_features(use_entry_points=False)


def serve_without(*off: str, tools: Any = (), **settings: Any) -> Any:
    """Make a server without these features."""
    return create_app(
        Settings(store=IN_MEMORY, entry_points=False, features_off=off, **settings),  # type: ignore[arg-type]
        Registry(tools),
    )


def list_dependent(name: str) -> frozenset[str]:
    """List a feature and all that need it."""
    return find_dependent(FEATURES, name)


@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


@tool(cache=Cache(ttl=5), annotations={"read_only": True})
def cached(city: str) -> str:
    """Say how the weather is."""
    return city


@tool(rate="5/minute")
def rated() -> None:
    """Ring."""


@tool(deprecated="use ring")
def deprecated() -> None:
    """Ring."""


@tool(cost=0.5)
def costly() -> None:
    """Ring."""


@tool(cost=0)
def free() -> None:
    """Ring."""


@tool(native="shell")
def native(commands: list[str]) -> str:
    """Run commands."""
    return commands[0]


@tool(executor="sandbox")
def confined() -> None:
    """Ring."""


@tool
def commanding(sandbox: CommandSandbox) -> None:
    """Ring."""


@tool
def remembering(store: Annotated[Store, InjectedStore()]) -> None:
    """Ring."""


@tool
def filing(files: Workspace) -> None:
    """Ring."""


@tool
def filing_perhaps(files: Workspace | None = None) -> None:
    """Ring."""


@tool(requires_approval=True)
def approved() -> None:
    """Ring."""


@tool(requires_approval=lambda arguments: arguments["times"] > 3)
def approved_perhaps(times: int) -> None:
    """Ring."""


@tool(scopes=["bells"])
def scoped() -> None:
    """Ring."""


@tool(background=True)
def background() -> None:
    """Ring."""


@tool(idempotency="tool_call_id")
def idempotent() -> None:
    """Ring."""


@tool
def secretive(key: Annotated[str, Secret("KEY")]) -> None:
    """Ring."""


@tool
def acting(token: Annotated[str, UserToken("github")]) -> None:
    """Ring."""


ASKING: list[tuple[Any, str, str]] = [
    (cached, "cache", "`cache`"),
    (rated, "rates", "`rate`"),
    (deprecated, "contract", "`deprecated`"),
    (costly, "costs", "`cost`"),
    (free, "costs", "`cost`"),
    (native, "native_tools", "`native`"),
    (confined, "sandbox", "`executor='sandbox'`"),
    (commanding, "sandbox", "`executor='sandbox'`"),
    (remembering, "store", "a hidden parameter (store)"),
    (filing, "workspaces", "a hidden parameter (workspace)"),
    (filing_perhaps, "workspaces", "a hidden parameter (workspace)"),
    (approved, "approvals", "`requires_approval`"),
    (approved_perhaps, "approvals", "`requires_approval`"),
    (scoped, "access", "`scopes`"),
    (background, "jobs", "`background`"),
    (idempotent, "jobs", "`idempotency`"),
    (secretive, "credentials", "a hidden parameter (secret)"),
    (acting, "credentials", "a hidden parameter (user_token)"),
]
IDS = [f"{asking[0].name}-{asking[1]}" for asking in ASKING]
MAY_BE_OFF = {
    feature.name
    for feature in FEATURES
    if all(_.can_be_off for _ in FEATURES if _.name in list_dependent(feature.name))
}


@pytest.mark.parametrize(("asking", "feature", "wanted"), ASKING, ids=IDS)
def test_a_tool_that_asks_for_a_missing_feature_is_refused(asking: Any, feature: str, wanted: str) -> None:
    """Whether it is off, or its folder is not there."""
    there = [it for it in FEATURES if it.name != feature]
    off = [it for it in FEATURES if it.name == feature]

    for left_out, why in (
        (off, f"the feature {feature}, which SIDECALL_FEATURES_OFF leaves out"),
        ([], "a feature that is not installed"),
    ):
        with pytest.raises(FeatureMissing) as refused:
            make_requirements(there, left_out).hold(asking.compiled)
        assert refused.value.message == (f"the tool {asking.name!r} ({asking.compiled.source}): {wanted} needs {why}.")
    make_requirements(FEATURES, ()).hold(asking.compiled)


@pytest.mark.parametrize(("asking", "feature"), [(asking, name) for asking, name, _ in ASKING if name in MAY_BE_OFF])
def test_such_a_tool_stops_the_start(asking: Any, feature: str) -> None:
    """And without it the server starts."""
    off = list_dependent(feature)

    with pytest.raises(FeatureMissing, match=f"{asking.name}.* needs the feature {feature}, which "):
        serve_without(*off, tools=[double, asking])
    assert serve_without(*off, tools=[double]) is not None


async def test_such_a_tool_is_not_called_without_a_server_either() -> None:
    """`sidecall call` reads the same setting."""
    settings = Settings(store=IN_MEMORY, entry_points=False, features_off=("cache",))

    with pytest.raises(FeatureMissing, match="`cache` needs the feature cache, which SIDECALL_FEATURES_OFF leaves out"):
        async with build_pipeline(Registry([cached]), settings):
            pass


@pytest.mark.parametrize(
    "offer",
    [
        lambda registry: registry.add(cached),
        lambda registry: registry.replace([double, cached]),
        lambda registry: registry.put_source("another", [cached.compiled]),
        lambda registry: registry.put_source("another", [cached.compiled], gives_way=True),
        lambda registry: registry.join([cached]),
    ],
    ids=["add", "replace", "source", "source that gives way", "trial"],
)
def test_a_tool_that_comes_later_is_refused_too(offer: Callable[[Registry], Any]) -> None:
    """Files that are loaded again, and servers whose tools are offered; what was there stays."""
    registry = serve_without("cache", tools=[double]).state.parts.registry

    with pytest.raises(FeatureMissing, match="`cache` needs the feature cache, which SIDECALL_FEATURES_OFF leaves out"):
        offer(registry)

    assert registry.names == ["double"]
    registry.replace([double, rated])
    assert registry.names == ["double", "rated"]


def test_each_option_belongs_to_the_kernel_or_to_one_feature() -> None:
    """So one that is new is refused until somebody has it."""
    for kernel, kind, every in (
        (KERNEL_OPTIONS, "options", [it.name for it in fields(ToolOptions) if it.init]),
        (KERNEL_PARAMETERS, "parameters", Source.__args__),  # type: ignore[attr-defined]
        (KERNEL_EXECUTORS, "executors", ExecutorName.__args__),  # type: ignore[attr-defined]
    ):
        owned = [name for feature in FEATURES for name in getattr(feature, kind)]
        assert sorted([*kernel, *owned]) == sorted(every)


@pytest.mark.parametrize(
    ("off", "settings", "name"),
    [
        (("rates",), {"rate_limit": "5/minute"}, "RATE_LIMIT"),
        (("rates",), {"shared_rates": True}, "SHARED_RATES"),
        (("costs",), {"budget": "5/day"}, "BUDGET"),
        (("toolsets",), {"toolsets": Path("toolsets.toml")}, "TOOLSETS"),
        (("toolkits", "vector_stores"), {"toolkits": ("files",)}, "TOOLKITS"),
        (("vector_stores",), {"toolkits": ("file_search",)}, "TOOLKITS"),
        (("mcp_client",), {"mcp_servers": "servers.json"}, "MCP_SERVERS"),
        (("mcp_server",), {"mcp": True}, "MCP"),
        (("openapi_import",), {"openapi": ("petstore.json",)}, "OPENAPI"),
        (("openapi_import",), {"openapi_services": "services.toml"}, "OPENAPI_SERVICES"),
        (("history", "conversations"), {"history": "meta"}, "HISTORY"),
        (("telemetry",), {"metrics": "open"}, "METRICS"),
        (("telemetry",), {"log_calls": True}, "LOG_CALLS"),
        (("reload",), {"reload": True}, "RELOAD"),
        (("webhooks",), {"webhook_hosts": ("example.com",), "webhook_secret": f"whsec_{'a' * 43}="}, "WEBHOOK_HOSTS"),
    ],
)
def test_a_setting_that_asks_for_a_missing_feature_stops_the_start(
    off: tuple[str, ...], settings: dict[str, Any], name: str
) -> None:
    """Since what an operator has asked for would not hold."""
    with pytest.raises(FeatureUnfit) as refused:
        serve_without(*off, **settings)

    owner = off[0]
    assert refused.value.message == (
        f"SIDECALL_{name} needs the feature {owner}, which SIDECALL_FEATURES_OFF leaves out"
    )


@pytest.mark.parametrize(
    ("off", "message"),
    [
        (("access",), "SIDECALL_FEATURES_OFF names access, without which no server starts"),
        (("approvals",), "SIDECALL_FEATURES_OFF names approvals, without which no server starts"),
        (("credentials",), "SIDECALL_FEATURES_OFF names credentials, without which no server starts"),
        (("costs", "approvals"), "SIDECALL_FEATURES_OFF names approvals, without which no server starts"),
        (("tools",), "SIDECALL_FEATURES_OFF names tools, without which no server starts"),
        (("jobs",), "the feature approvals needs jobs, which SIDECALL_FEATURES_OFF leaves out: it cannot be off"),
        (("audit",), "the feature approvals needs audit, which SIDECALL_FEATURES_OFF leaves out: it cannot be off"),
        (
            ("conversations", "workspaces"),
            "the feature file_tools needs workspaces, which SIDECALL_FEATURES_OFF leaves out: name file_tools, too",
        ),
        (
            ("serch",),
            "SIDECALL_FEATURES_OFF names serch, and there is no such feature; did you mean search?",
        ),
        (("Search",), "SIDECALL_FEATURES_OFF names Search, and there is no such feature; did you mean search?"),
    ],
)
def test_what_may_not_be_off_stops_the_start(off: tuple[str, ...], message: str) -> None:
    """What protects the server, what others need, and what there is not."""
    with pytest.raises(FeatureUnfit) as refused:
        serve_without(*off)

    assert refused.value.message == message


def test_what_protects_a_server_stays() -> None:
    """With all that it needs."""
    assert {feature.name for feature in FEATURES} - MAY_BE_OFF == {
        *("access", "approvals", "audit", "calls", "credentials", "health", "jobs", "tool_calls", "tools")
    }


@pytest.mark.parametrize("name", sorted(MAY_BE_OFF))
async def test_a_server_starts_and_calls_without_a_feature(name: str) -> None:
    """With what needs it off as well; none of its routes is there."""
    app = serve_without(*list_dependent(name), tools=[double])
    feature: Feature = next(it for it in FEATURES if it.name == name)

    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client,
    ):
        called = await client.post("/tool_calls", json={"name": "double", "args": {"number": 4}})
        ready = await client.get("/readyz")
        document = (await client.get("/openapi.json")).json()

    assert (called.json()["content"], ready.status_code) == ("8", 200)
    paths = {(method.upper(), path) for path, ways in document["paths"].items() for method in ways}
    plain = {(route.method, route.path.replace(":uuid", "").replace(":path", "")) for route in feature.routes}
    assert paths.isdisjoint(plain)


async def test_all_that_may_be_off_may_be_off_at_once() -> None:
    """Nothing is left but what protects a server, and its calls."""
    app = serve_without(*MAY_BE_OFF, tools=[double])

    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://server") as client,
    ):
        answers = {path: (await client.get(path)).status_code for path in ("/tools", "/readyz", "/metrics", "/mcp")}

    assert answers == {"/tools": 200, "/readyz": 200, "/metrics": 404, "/mcp": 404}
