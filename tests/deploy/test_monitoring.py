"""Alerts and dashboards ask for metrics that a server has, and each alert has its section of the runbook."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sidecall.kernel.core.errors import ErrorKind
from tests.e2e.conftest import Serve, start_server
from tests.kit.deployment import DEPLOY, load_library, read_manifests, run_program
from tests.kit.forked import origin
from tests.kit.servers import CLIENT, Server
from tests.kit.sources import ROOT

__all__ = ["origin", "start_server"]

PROMETHEUS = DEPLOY / "prometheus"
DASHBOARD = DEPLOY / "grafana" / "sidecall.json"
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
[RULES] = read_manifests((PROMETHEUS / "rules.yml").read_text())
ALERTS: dict[str, dict[str, Any]] = {it["alert"]: it for group in RULES["groups"] for it in group["rules"]}
SHOWN = json.loads(DASHBOARD.read_text())
PANELS = [panel for panel in SHOWN["panels"] if panel["type"] != "row"]
# What Grafana puts in; the value has no influence on which metrics are asked for.
_INSERTED = {"$__rate_interval": "5m", "$job": ".*", "$instance": ".*", "$tool": ".*"}
# What Prometheus itself adds, for each server that it asks.
_OF_PROMETHEUS = {"up"}
_OF_SERIES = {"__name__", "job", "instance"}
TOOLS = '''
from sidecall import tool

@tool(executor="process")
def apart() -> int:
    """Run in a process."""
    return 1
'''


def _expressions() -> Iterator[tuple[str, str]]:
    yield from ((name, rule["expr"]) for name, rule in ALERTS.items())
    for panel in PANELS:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in _INSERTED.items():
                expression = expression.replace(name, value)
            yield panel["title"], expression
    for variable in SHOWN["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["label"], variable["query"]["query"].replace("$job", ".*")


EXPRESSIONS = list(_expressions())


def _selectors(expression: str) -> list[Any]:
    """Return the selectors of an expression in PromQL, or of Grafana's function `label_values`."""
    promql = load_library("promql_parser")
    asked = re.fullmatch(r"label_values\((.*), (\w+)\)", expression)
    return list(_walk(promql.parse(expression if asked is None else asked[1])))


def _walk(node: Any) -> Iterator[Any]:
    if type(node).__name__ == "VectorSelector":
        yield node
    for name in ("expr", "lhs", "rhs", "vector_selector", "vs", "args", "param"):
        inner = getattr(node, name, None)
        for one in inner if isinstance(inner, list) else [inner]:
            if one is not None and type(one).__module__.startswith("promql_parser"):
                yield from _walk(one)


@cache
def _read(url: str) -> dict[str, set[str]]:
    """Return the names of a server's metrics, each with its labels."""
    text = CLIENT.get(f"{url}/metrics").text
    found: dict[str, set[str]] = {name: set() for name in re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE)}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? ", text, re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server that has everything to count: a tool in a process, an MCP server, a collector of spans, a call."""
    tools = tmp_path_factory.mktemp("tools") / "counted.py"
    tools.write_text(TOOLS)
    upstream = json.dumps({"mcpServers": {"wiki": {"url": "http://127.0.0.1:9/mcp"}}})
    started = start_server(
        *("--tools", "sidecall", "--tools", str(tools)),
        SIDECALL_MCP_SERVERS=upstream,
        SIDECALL_FLEET="nats://127.0.0.1:9",
        SIDECALL_OTEL="on",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
    )
    call = {"name": "calculator", "args": {"expression": "6 * 7"}, "id": "1"}
    assert CLIENT.post(f"{started.url}/tool_calls", json=call).json()["content"] == "42"
    return started


@pytest.mark.parametrize(("title", "expression"), EXPRESSIONS, ids=[f"{n} {it[0]}" for n, it in enumerate(EXPRESSIONS)])
def test_every_expression_asks_for_what_a_server_has(title: str, expression: str, server: Server) -> None:
    """Each metric is one of a real server's, and each label one of that metric's."""
    found = _read(server.url)
    selectors = _selectors(expression)

    assert selectors
    for selector in selectors:
        if selector.name in _OF_PROMETHEUS:
            continue
        assert selector.name in found
        labels = {matcher.name for matcher in selector.matchers.matchers}
        assert labels - _OF_SERIES <= found[selector.name]


@pytest.mark.parametrize(("title", "expression"), EXPRESSIONS, ids=[f"{n} {it[0]}" for n, it in enumerate(EXPRESSIONS)])
def test_every_outcome_that_is_asked_for_is_one(title: str, expression: str) -> None:
    """A kind of failure that is misspelt would count nothing."""
    outcomes = {*ErrorKind.__args__, "success", "internal_error"}
    asked = re.findall(r'outcome(?:=|!=|=~)"([^"]+)"', expression)

    assert {one for outcome in asked for one in outcome.split("|")} <= outcomes


def test_what_a_server_does_not_have_is_noticed(server: Server) -> None:
    """So that the tests above can fail: in every place of an expression."""
    names = {
        it.name
        for it in _selectors("sum by (a) (rate(b[5m])) / c > 0 and histogram_quantile(0.9, d) unless e offset 5m")
    }

    assert names == {"b", "c", "d", "e"}
    assert "sidecall_calls_in_total" not in _read(server.url)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "rules", "--lint=all", "--lint-fatal", "rules.yml"), f"SUCCESS: {len(ALERTS)} rules found"),
        (("test", "rules", "rules_test.yml"), "SUCCESS"),
        (("check", "config", "--syntax-only", "prometheus.yml"), "SUCCESS: prometheus.yml is valid prometheus config"),
    ],
    ids=["rules", "their tests", "configuration"],
)
def test_prometheus_own_tool_finds_nothing_wrong(arguments: tuple[str, ...], said: str) -> None:
    """Neither with the rules nor with the examples of when they fire."""
    checked = run_program("promtool", *arguments, cwd=PROMETHEUS)

    assert said in checked.stdout
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_alert_is_tried() -> None:
    """Once where it fires, and twice for a server that is well."""
    tried = re.findall(r"alertname: (\w+)", (PROMETHEUS / "rules_test.yml").read_text())

    assert {name: tried.count(name) for name in ALERTS} == dict.fromkeys(ALERTS, 3)


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_has_its_section_of_the_runbook(alert: str) -> None:
    """Its link leads there, the section says what it means and what to do, and its expression has the same metric."""
    rule = ALERTS[alert]
    section = re.search(rf"^## {alert}\n(.*?)(?=^## |\Z)", RUNBOOK, re.MULTILINE | re.DOTALL)

    assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{alert.lower()}"
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert section is not None
    assert [part for part in ("**Means**", "**Look**", "**Do**") if part not in section[1]] == []


def test_the_runbook_has_no_section_of_an_alert_that_is_gone() -> None:
    """Alerts and sections stand in the same order."""
    assert re.findall(r"^## (Sidecall\w+)$", RUNBOOK, re.MULTILINE) == list(ALERTS)


def test_the_dashboard_is_one_for_grafana() -> None:
    """Grafana's own model of dashboards knows every field: what it does not know is missing when it writes it back."""
    models = load_library("grafana_foundation_sdk.models.dashboard")
    written = models.Dashboard.from_json(SHOWN)
    encoder = load_library("grafana_foundation_sdk.cog.encoder").JSONEncoder

    back = set(_paths(json.loads(encoder(sort_keys=True).encode(written))))
    assert [path for path in _paths(SHOWN) if path not in back] == []


def _paths(value: Any, at: str = "") -> Iterator[str]:
    """Name each field of a JSON value that is not null, with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _paths(inner, f"{at}[{number}]")
    elif value is not None:
        yield at


def test_panels_have_places_of_their_own() -> None:
    """No two cover each other, none is wider than the page, and each has an id and asks the source that is chosen."""
    places = [(panel["title"], panel["gridPos"]) for panel in SHOWN["panels"]]
    cells = [
        (x, y) for _, at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in SHOWN["panels"]}) == len(SHOWN["panels"])
    assert {panel["datasource"]["uid"] for panel in PANELS} == {"${datasource}"}


def test_the_dashboard_shows_what_operators_ask_for() -> None:
    """Calls, errors by kind, latency by tool, queues, approvals, store, event loop, abandoned threads."""
    asked = " ".join(expression for _, expression in EXPRESSIONS)
    metrics = "calls_total call_duration_seconds_bucket queue_length approvals_waiting store_usable requests_total"
    more = "event_loop_stuck_seconds_total executor_abandoned executor_waiting mcp_server_up"

    assert [name for name in (*metrics.split(), *more.split()) if f"sidecall_{name}" not in asked] == []
    assert "sum by (outcome)" in asked
    assert Path(DASHBOARD).stat().st_size < 200_000
