"""The Helm chart renders what Kubernetes takes, as safe as it can be, for each way to run it."""

import json
from typing import Any

import pytest

from sidecall.settings import Settings
from tests.kit.deployment import (
    CHART,
    OPERATOR,
    VERSIONS,
    find_insecurities,
    find_schema_errors,
    only,
    read_manifests,
    render_chart,
    render_manifests,
    run_program,
)
from tests.kit.sources import ROOT

POSTGRES = {"store": {"type": "postgresql", "postgresql": {"secret": "database"}}}
# Ways to run it, by what they are for; and the kinds of manifests that they have beside the usual ones.
USUAL = {"Deployment", "Service", "ServiceAccount", "NetworkPolicy"}
WAYS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "as it is": ({}, set()),
    "tools and keys in the values": (
        {
            "tools": {"files": {"my_tools.py": 'def f():\n    """A {{ tool }}: #."""\n'}},
            "auth": {"keys": '{"id": 1}\n'},
        },
        {"ConfigMap", "Secret"},
    ),
    "a fleet": (
        {
            **POSTGRES,
            "autoscaling": {"enabled": True},
            "podDisruptionBudget": {"enabled": True},
            "workers": 2,
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
            ],
        },
        {"HorizontalPodAutoscaler", "PodDisruptionBudget"},
    ),
    "a fleet of a fixed size": ({**POSTGRES, "replicas": 3, "imagePullSecrets": [{"name": "registry"}]}, set()),
    "a file on a volume": (
        {"store": {"type": "sqlite", "sqlite": {"storageClass": "fast"}}},
        {"PersistentVolumeClaim"},
    ),
    "a file on a volume that is there": ({"store": {"type": "sqlite", "sqlite": {"existingClaim": "mine"}}}, set()),
    "for everyone in the namespace": ({"auth": {"methods": ["none"]}, "metrics": {"access": "open"}}, set()),
    "from outside": (
        {
            "ingress": {
                "enabled": True,
                "className": "nginx",
                "hosts": ["tools.example.com"],
                "tls": [{"secretName": "tls", "hosts": ["tools.example.com"]}],
            },
            "networkPolicy": {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
        },
        {"Ingress"},
    ),
    "watched": (
        {
            "metrics": {
                "namespace": "monitoring",
                "serviceMonitor": {"enabled": True, "keySecret": "prometheus-key"},
                "rules": {"enabled": True, "runbook": "https://wiki.example.com/runbook"},
                "dashboards": {"enabled": True},
            }
        },
        {"ConfigMap", "PrometheusRule", "ServiceMonitor"},
    ),
    "watched without a key": (
        {"metrics": {"access": "open", "serviceMonitor": {"enabled": True}}},
        {"ServiceMonitor"},
    ),
    "watched by everyone": (
        {"auth": {"methods": ["none"]}, "metrics": {"serviceMonitor": {"enabled": True}}},
        {"ServiceMonitor"},
    ),
    "every detail": (
        {
            "image": {"repository": "registry.example.com/sidecall", "digest": f"sha256:{'0' * 64}"},
            "fullnameOverride": "tools",
            "toolkits": ["files", "fetch"],
            "tools": {"configMap": "my-tools", "places": ["/srv/tools", "sidecall"]},
            "settings": {
                "SIDECALL_LOG_CALLS": True,
                "SIDECALL_MAX_BODY_BYTES": 8388608,
                "SIDECALL_TOOL_TIMEOUT": 2.5,
                "SIDECALL_RATE_LIMIT": "100/minute",
            },
            "env": [{"name": "TAVILY_API_KEY", "valueFrom": {"secretKeyRef": {"name": "tavily", "key": "key"}}}],
            "envFrom": [{"secretRef": {"name": "more"}}],
            "serviceAccount": {"create": False, "name": "mine"},
            "networkPolicy": {"enabled": False},
            "podAnnotations": {"a": "b"},
            "podLabels": {"team": "agents"},
            "nodeSelector": {"disk": "fast"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "priorityClassName": "high",
            "extraVolumes": [{"name": "data", "emptyDir": {}}],
            "extraVolumeMounts": [{"name": "data", "mountPath": "/data"}],
            "workspaces": {"existingClaim": "shared"},
        },
        set(),
    ),
}


def _pod(manifests: list[dict[str, Any]]) -> Any:
    return only(manifests, "Deployment")["spec"]["template"]["spec"]


def _environment(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    return {it["name"]: it.get("value", it.get("valueFrom")) for it in _pod(manifests)["containers"][0]["env"]}


def test_the_chart_passes_helms_own_checks() -> None:
    """As strictly as Helm checks."""
    linted = run_program("helm", "lint", "--strict", CHART)

    assert "1 chart(s) linted, 0 chart(s) failed" in linted.stdout, linted.stdout + linted.stderr


@pytest.mark.parametrize(("values", "more"), WAYS.values(), ids=WAYS)
def test_kubernetes_takes_what_is_rendered(values: dict[str, Any], more: set[str]) -> None:
    """By its strict schemas of the oldest version and the newest, restricted, with one variable of a name."""
    manifests = render_manifests(values)

    kinds = [manifest["kind"] for manifest in manifests]
    dropped = {"ServiceAccount"} if values.get("serviceAccount") else set()
    dropped |= {"NetworkPolicy"} if values.get("networkPolicy") == {"enabled": False} else set()
    assert sorted(kinds) == sorted((USUAL - dropped) | more)
    for manifest in manifests:
        if manifest["apiVersion"] != OPERATOR:
            assert {version: find_schema_errors(manifest, version) for version in VERSIONS} == {
                version: [] for version in VERSIONS
            }
    pod = _pod(manifests)
    assert find_insecurities(pod) == []
    assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)
    names = [variable["name"] for variable in pod["containers"][0]["env"]]
    assert len(names) == len(set(names))
    assert {name for name in names if name.startswith("SIDECALL_")} <= _setting_names()
    mounts = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
    assert mounts == {volume["name"] for volume in pod["volumes"]}


def _setting_names() -> set[str]:
    return {f"SIDECALL_{name.upper()}" for name in Settings.model_fields}


def test_schema_refuses_what_kubernetes_does_not_know() -> None:
    """So that the test above can fail."""
    deployment = only(render_manifests({}), "Deployment")
    deployment["spec"]["template"]["spec"]["containers"][0]["probe"] = {}
    pod = deployment["spec"]["template"]["spec"]
    pod["containers"][0]["securityContext"]["capabilities"] = {"drop": ["ALL"], "add": ["SYS_ADMIN"]}
    pod["securityContext"].pop("seccompProfile")

    [error] = find_schema_errors(deployment, "1.37")
    assert "'probe' was unexpected" in error
    assert find_insecurities(pod) == ["sidecall: capabilities", "sidecall: seccompProfile"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "several servers that remember apart": ({"replicas": 2}, "set store.type=postgresql"),
    "an autoscaler of a file": (
        {"store": {"type": "sqlite"}, "autoscaling": {"enabled": True}},
        "store.type=postgresql",
    ),
    "a database without an address": ({"store": {"type": "postgresql"}}, "takes store.postgresql.secret"),
    "none and keys": ({"auth": {"methods": ["none", "api_key"]}}, "auth.methods is [none]"),
    "two sources of keys": ({"auth": {"keys": "a", "keysSecret": "b"}}, "auth.keys or auth.keysSecret"),
    "two sources of tools": ({"tools": {"files": {"a.py": ""}, "configMap": "b"}}, "tools.files or tools.configMap"),
    "commands without a sandbox": ({"toolkits": ["shell"]}, "set sandbox.enabled=true"),
    "CPython without a sandbox": (
        {"toolkits": ["python"], "settings": {"SIDECALL_PYTHON": "cpython"}},
        "set sandbox.enabled=true",
    ),
    "a monitor without a key": (
        {"metrics": {"serviceMonitor": {"enabled": True}}},
        "metrics.serviceMonitor takes keySecret",
    ),
    "a monitor of what is off": (
        {"metrics": {"access": "off", "serviceMonitor": {"enabled": True, "keySecret": "prometheus"}}},
        "what metrics.access=off leaves out",
    ),
    "an ingress for no name": ({"ingress": {"enabled": True}}, "takes ingress.hosts"),
    "a variable among settings": ({"settings": {"TAVILY_API_KEY": "x"}}, "belongs into env"),
    "a setting that a value has": ({"settings": {"SIDECALL_WORKERS": 2}}, "SIDECALL_WORKERS is set by another value"),
    "the same among variables": (
        {"env": [{"name": "SIDECALL_STORE", "value": "x"}]},
        "SIDECALL_STORE is set by another",
    ),
    "a variable twice": ({"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}, "stands twice"),
    "a misspelt value": ({"replica": 2}, "replica"),
    "a misspelt value further in": ({"store": {"postgresql": {"secretName": "x"}}}, "secretName"),
    "an unknown method": ({"auth": {"methods": ["password"]}}, "/auth/methods/0"),
    "no method": ({"auth": {"methods": []}}, "/auth/methods"),
    "a number that is none": ({"drain": {"timeout": "soon"}}, "/drain/timeout"),
}


@pytest.mark.parametrize(("values", "said"), WRONG.values(), ids=WRONG)
def test_values_that_contradict_each_other_are_refused(values: dict[str, Any], said: str) -> None:
    """With what to set instead, before anything is installed."""
    rendered = render_chart(values)

    assert rendered.returncode != 0
    assert said in rendered.stderr


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, {"SIDECALL_AUTH": "api_key", "SIDECALL_STORE": "memory://", "SIDECALL_HOSTS": "sidecall.tools"}),
        (
            WAYS["for everyone in the namespace"][0],
            {"SIDECALL_ALLOW_UNAUTHENTICATED": "true", "SIDECALL_METRICS": "open"},
        ),
        ({"auth": {"methods": ["gateway", "jwt"]}}, {"SIDECALL_AUTH": "gateway,jwt"}),
        (WAYS["a fleet"][0], {"SIDECALL_STORE": {"secretKeyRef": {"name": "database", "key": "url"}}}),
        ({"store": {"type": "sqlite"}}, {"SIDECALL_STORE": "sqlite:////var/lib/sidecall/store/ledger.db"}),
        (
            WAYS["every detail"][0],
            {
                # Helm itself would write it as 8.388608e+06.
                "SIDECALL_MAX_BODY_BYTES": "8388608",
                "SIDECALL_TOOL_TIMEOUT": "2.5",
                "SIDECALL_LOG_CALLS": "true",
                "SIDECALL_RATE_LIMIT": "100/minute",
                "SIDECALL_TOOLKITS": "files,fetch",
                "SIDECALL_TOOLS": "/srv/tools,sidecall",
            },
        ),
        (
            {"ingress": {"enabled": True, "hosts": ["a.example.com"]}, "hosts": ["b.example.com"]},
            {"SIDECALL_HOSTS": "b.example.com,a.example.com,sidecall.tools"},
        ),
    ],
)
def test_values_reach_the_server_as_settings(values: dict[str, Any], expected: dict[str, Any]) -> None:
    """As its settings want them written."""
    found = _environment(render_manifests(values))

    assert {name: found.get(name) for name in expected} == expected
    assert ("SIDECALL_ALLOW_UNAUTHENTICATED" in found) == (values.get("auth", {}).get("methods") == ["none"])


def test_the_pod_has_time_to_drain() -> None:
    """The sum of grace and timeout, each rounded up, and ten seconds."""
    pod = _pod(render_manifests({"drain": {"grace": 2.5, "timeout": 100}}))

    assert pod["terminationGracePeriodSeconds"] == 113


def test_a_file_has_one_server_at_a_time() -> None:
    """A new pod starts when the old one has ended; a plain one before that."""
    strategies = [
        only(render_manifests({"store": {"type": store}}), "Deployment")["spec"]["strategy"]["type"]
        for store in ("sqlite", "memory")
    ]

    assert strategies == ["Recreate", "RollingUpdate"]


def test_changed_tools_bring_new_pods() -> None:
    """Since they are loaded at the start."""
    annotated = [
        only(render_manifests({"tools": {"files": {"a.py": text}}}), "Deployment")["spec"]["template"]["metadata"]
        for text in ("one", "two")
    ]

    assert annotated[0] != annotated[1]


def test_the_network_policy_admits_who_is_named() -> None:
    """Never everyone: not by a list that is empty."""
    shut = only(render_manifests({"networkPolicy": {"from": []}}), "NetworkPolicy")["spec"]
    open_to = only(
        render_manifests(WAYS["from outside"][0] | {"metrics": {"namespace": "monitoring"}}), "NetworkPolicy"
    )

    assert (shut["ingress"], shut["policyTypes"]) == ([], ["Ingress"])
    [rule] = open_to["spec"]["ingress"]
    names = [peer["namespaceSelector"]["matchLabels"] for peer in rule["from"][1:]]
    assert rule["from"][0] == {"podSelector": {}}
    assert [label["kubernetes.io/metadata.name"] for label in names] == ["ingress-nginx", "monitoring"]
    assert [port["port"] for port in open_to["spec"]["egress"][0]["ports"]] == [53, 53]


def test_a_sandbox_takes_what_it_needs_and_no_more() -> None:
    """What docs/deploy.md says of a sandbox in the container; all else is as before."""
    pod = _pod(render_manifests({"sandbox": {"enabled": True}, "toolkits": ["shell"]}))

    assert pod["hostUsers"] is False
    assert find_insecurities(pod) == ["sidecall: procMount"]
    assert pod["containers"][0]["securityContext"]["seccompProfile"] == {
        "type": "Localhost",
        "localhostProfile": "sidecall.json",
    }


def test_rules_and_dashboards_are_those_of_the_other_folders() -> None:
    """The rules lead to the runbook where the operator has published it."""
    manifests = render_manifests(WAYS["watched"][0])
    [rules] = read_manifests((ROOT / "deploy/prometheus/rules.yml").read_text())
    rule = only(manifests, "PrometheusRule")["spec"]["groups"][0]["rules"][0]

    assert [it["alert"] for it in only(manifests, "PrometheusRule")["spec"]["groups"][0]["rules"]] == [
        it["alert"] for it in rules["groups"][0]["rules"]
    ]
    assert rule["annotations"]["runbook_url"] == "https://wiki.example.com/runbook#sidecalldown"
    shown = json.loads(only(manifests, "ConfigMap")["data"]["sidecall.json"])
    assert shown == json.loads((ROOT / "deploy/grafana/sidecall.json").read_text())
