"""The chart, the Kustomize overlay and Compose start workers that servers find, and that end with their calls done."""

from typing import Any

import pytest
from ruamel.yaml import YAML

from sidecall.settings import Settings
from tests.kit.deployment import (
    DEPLOY,
    VERSIONS,
    find_insecurities,
    find_schema_errors,
    read_manifests,
    render_chart,
    render_manifests,
    run_program,
)

KEDA = "keda.sh/v1alpha1"
FLEET: dict[str, Any] = {
    "bus": "tls://nats.tools:4222",
    "keySecret": "sidecall-fleet",
    "placement": ["gpu=tag:vision", "cpu=crunch*"],
    "workers": [
        {"queue": "cpu", "replicas": 2},
        {
            "queue": "gpu",
            "slots": 4,
            "image": "registry.example.com/cuda:1",
            "drainTimeout": 300,
            "resources": {"limits": {"nvidia.com/gpu": 1}},
            "nodeSelector": {"accelerator": "h100"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "env": [{"name": "HF_HOME", "value": "/tmp"}],
            "autoscaling": {"minReplicas": 0, "maxReplicas": 8, "prometheus": "http://prometheus.monitoring:9090"},
        },
    ],
}
VALUES = {"fleet": FLEET, "tools": {"files": {"my_tools.py": ""}}, "metrics": {"namespace": "monitoring"}}


def _build() -> list[dict[str, Any]]:
    built = run_program("kubectl", "kustomize", DEPLOY / "kustomize" / "fleet")
    assert (built.returncode, built.stderr) == (0, "")
    return read_manifests(built.stdout)


def _named(manifests: list[dict[str, Any]], kind: str, name: str) -> Any:
    [found] = [it for it in manifests if it["kind"] == kind and it["metadata"]["name"] == name]
    return found


def _environment(container: dict[str, Any]) -> dict[str, Any]:
    return {it["name"]: it.get("value", it.get("valueFrom")) for it in container["env"]}


@pytest.mark.parametrize("way", ["chart", "overlay"])
def test_kubernetes_takes_what_is_made_and_keeps_it_restricted(way: str) -> None:
    """Each object by its strict schemas, and each pod by the standard."""
    manifests = render_manifests(VALUES) if way == "chart" else _build()
    for manifest in manifests:
        if manifest["apiVersion"] != KEDA:
            assert [find_schema_errors(manifest, version) for version in VERSIONS] == [[], []], manifest
    for deployment in (it for it in manifests if it["kind"] == "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        assert find_insecurities(pod) == []
        assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)
        container = pod["containers"][0]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert {it["name"] for it in container["volumeMounts"]} == {it["name"] for it in pod["volumes"]}
        assert (
            deployment["spec"]["selector"]["matchLabels"].items()
            <= deployment["spec"]["template"]["metadata"]["labels"].items()
        )
        assert {
            it.removeprefix("SIDECALL_").lower()
            for it in _environment({"env": container.get("env", [])})
            if it.startswith("SIDECALL_")
        } <= Settings.model_fields.keys()


@pytest.mark.parametrize(
    ("way", "name", "slots", "drain"),
    [
        ("chart", "sidecall-worker-cpu", "1", "30"),
        ("chart", "sidecall-worker-gpu", "4", "300"),
        ("overlay", "sidecall-worker-cpu", "2", "60"),
    ],
)
def test_workers_have_the_bus_and_the_key_of_servers_and_time_to_finish(
    way: str, name: str, slots: str, drain: str
) -> None:
    """None ends before another is there, or before its calls have."""
    manifests = render_manifests(VALUES) if way == "chart" else _build()
    spec = _named(manifests, "Deployment", name)["spec"]
    server = _named(manifests, "Deployment", "sidecall")["spec"]["template"]["spec"]["containers"][0]
    pod = spec["template"]["spec"]
    worker = pod["containers"][0]
    for variable in ("SIDECALL_FLEET", "SIDECALL_FLEET_KEY"):
        assert _environment(worker)[variable] == _environment(server)[variable]
    queue = name.rpartition("-")[2]
    assert worker["args"] == ["worker", "--queue", queue, "--slots", slots, "--host", "0.0.0.0", "--port", "8001"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert _environment(worker)["SIDECALL_DRAIN_TIMEOUT"] == drain
    assert pod["terminationGracePeriodSeconds"] == int(drain) + 15
    assert worker["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "probes"}


@pytest.mark.parametrize(
    ("way", "name", "slots"), [("chart", "sidecall-worker-gpu", "4"), ("overlay", "sidecall-worker-cpu", "2")]
)
def test_the_scaler_counts_what_waits_and_what_runs(way: str, name: str, slots: str) -> None:
    """And waits as long as a worker may take to finish; no other is made."""
    manifests = render_manifests(VALUES) if way == "chart" else _build()
    [scaled] = [it for it in manifests if it["apiVersion"] == KEDA]
    spec, queue = scaled["spec"], name.rpartition("-")[2]
    assert (scaled["metadata"]["name"], spec["scaleTargetRef"]) == (name, {"name": name})
    [trigger] = spec["triggers"]
    assert trigger["metadata"]["threshold"] == slots
    for number in ("waiting", "running"):
        assert f'sum(sidecall_fleet_{number}{{queue="{queue}"}} or vector(0))' in trigger["metadata"]["query"]
    deployment = _named(manifests, "Deployment", name)["spec"]
    assert "replicas" not in deployment
    assert spec["cooldownPeriod"] >= deployment["template"]["spec"]["terminationGracePeriodSeconds"]


def test_the_service_of_the_servers_leads_to_no_worker() -> None:
    """Nor does a budget of one queue count the pods of another."""
    for manifests in (render_manifests(VALUES), _build()):
        wanted = _named(manifests, "Service", "sidecall")["spec"]["selector"]
        pods = {
            it["metadata"]["name"]: it["spec"]["template"]["metadata"]["labels"]
            for it in manifests
            if it["kind"] == "Deployment"
        }
        assert [name for name, labels in pods.items() if wanted.items() <= labels.items()] == ["sidecall"]
        for budget in (it for it in manifests if it["kind"] == "PodDisruptionBudget"):
            chosen = budget["spec"]["selector"]["matchLabels"].items()
            assert [name for name, labels in pods.items() if chosen <= labels.items()] == [budget["metadata"]["name"]]


@pytest.mark.parametrize(
    ("fleet", "said"),
    [
        ({"workers": [{"queue": "cpu"}]}, "fleet.bus"),
        ({"bus": "nats://nats:4222"}, "fleet.keySecret"),
        ({**FLEET, "workers": [{"queue": "Not a queue"}]}, "queue"),
        ({**FLEET, "workers": [{"queue": "cpu", "slots": 0}]}, "slots"),
    ],
)
def test_values_that_would_start_no_fleet_are_refused(fleet: dict[str, Any], said: str) -> None:
    """With the name of what is missing or wrong."""
    rendered = render_chart({"fleet": fleet})
    assert rendered.returncode != 0
    assert said in rendered.stderr


def test_compose_starts_a_fleet_only_when_it_is_asked_for() -> None:
    """Its worker has the image and the tools of the server."""
    compose = YAML(typ="safe").load((DEPLOY / "compose" / "docker-compose.yml").read_text())
    services = compose["services"]
    assert (services["nats"]["profiles"], services["worker"]["profiles"]) == (["fleet"], ["fleet"])
    assert services["worker"]["image"] == services["sidecall"]["image"]
    assert services["worker"]["volumes"][0] == services["sidecall"]["volumes"][0]
    assert services["nats"]["command"][0] == "-js"
    for name in ("nats", "worker"):
        assert (services[name]["read_only"], services[name]["cap_drop"]) == (True, ["ALL"])
