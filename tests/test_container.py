"""What can be known of the container without an engine; the rest is checked by `scripts/check-image`."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from sidecall import Registry
from sidecall.cli.listening import OpenToAll, refuse_open
from sidecall.http.origin_policy import OwnHosts
from sidecall.loading.discovery import discover
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.callers.keys import write_keys

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = ROOT / "docker-compose.yml"
CHECK_SCHEMA = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]


def _instructions(text: str) -> list[tuple[str, str]]:
    code = re.sub(r"(?m)^\s*#.*\n", "", text).replace("\\\n", "")
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in code.splitlines() if line)]


def _final_stage() -> list[tuple[str, str]]:
    instructions = _instructions(DOCKERFILE)
    last = max(index for index, (name, _) in enumerate(instructions) if name == "FROM")
    return instructions[last:]


def _only(name: str) -> str:
    """Give the arguments of the one instruction of this name in the final stage."""
    [arguments] = [rest for instruction, rest in _final_stage() if instruction == name]
    return arguments


def _services() -> dict[str, Any]:
    services: dict[str, Any] = YAML(typ="safe").load(COMPOSE)["services"]
    return services


def test_compose_file_follows_the_specification() -> None:
    """As the schema of Compose has it."""
    checked = subprocess.run([*CHECK_SCHEMA, str(COMPOSE)], capture_output=True, text=True, check=False)

    assert (checked.returncode, checked.stdout) == (0, "ok -- validation done\n")


def test_schema_refuses_what_compose_does_not_know(tmp_path: Path) -> None:
    """So that the test above can fail."""
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text(COMPOSE.read_text().replace("read_only:", "readonly:"))

    checked = subprocess.run([*CHECK_SCHEMA, str(wrong)], capture_output=True, check=False)

    assert checked.returncode == 1


@pytest.mark.parametrize("service", ["sidecall", "agent"])
def test_every_container_is_confined(service: str) -> None:
    """Read-only root, no capabilities, none to be gained."""
    settings = _services()[service]

    assert settings["read_only"] is True
    assert settings["cap_drop"] == ["ALL"]
    assert settings["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("service", ["sidecall", "agent"])
def test_no_container_starves_the_machine(service: str) -> None:
    """The server has what the Kubernetes example gives it."""
    settings = _services()[service]
    deploy = (ROOT / "docs" / "deploy.md").read_text()

    assert (settings["mem_limit"], settings["cpus"], settings["pids_limit"]) == ("256m", 1, 256)
    assert "limits: {memory: 256Mi}" in deploy


def test_every_setting_in_the_example_environment_reaches_the_server() -> None:
    """From a file that need not be there; but what its container hangs on is fixed, as in the image."""
    server = _services()["sidecall"]
    image = _only("ENV")

    assert server["env_file"] == [{"path": ".env", "required": False}]
    for name in ("SIDECALL_HOST", "SIDECALL_PORT"):
        assert f"{name}={server['environment'][name]}" in image
    assert server["ports"][0].endswith(f":{server['environment']['SIDECALL_PORT']}")


def test_tools_do_not_get_the_key_of_the_agent() -> None:
    """Though it stands in the same file."""
    for name in ("OPENAI_API_KEY", "SIDECALL_API_KEY"):
        assert _services()["sidecall"]["environment"][name] == ""


def test_health_is_asked_for_as_the_image_has_it() -> None:
    """Only more often."""
    assert _services()["sidecall"]["healthcheck"] == {"interval": "2s"}


def test_example_environment_has_settings_only() -> None:
    """Names that are none would have no effect."""
    example = (ROOT / ".env.example").read_text()
    settings = re.findall(r"^#?SIDECALL_([A-Z_]+)=", example, re.MULTILINE)

    assert settings
    assert {name.lower() for name in settings} - {"api_key"} <= Settings.model_fields.keys()


def test_only_this_machine_reaches_the_published_port() -> None:
    """So that it may insist on asking nobody for credentials, which a setting takes back."""
    server = _services()["sidecall"]

    assert server["ports"] == ["127.0.0.1:8000:8000"]
    insists = server["environment"]["SIDECALL_ALLOW_UNAUTHENTICATED"]
    assert insists == "${SIDECALL_ALLOW_UNAUTHENTICATED:-true}"


def test_the_image_alone_asks_for_credentials_or_does_not_start() -> None:
    """It listens for everybody, and nothing in it insists."""
    environment = dict(pair.split("=") for pair in re.findall(r"SIDECALL_\w+=\S+", _only("ENV")))
    settings = Settings(**{name.removeprefix("SIDECALL_").lower(): value for name, value in environment.items()})

    with pytest.raises(OpenToAll):
        refuse_open(settings)


def test_tools_are_mounted_for_reading() -> None:
    """Where the image looks for them."""
    assert _services()["sidecall"]["volumes"] == ["./tools:/srv/tools:ro"]


def test_agent_waits_for_sidecall() -> None:
    """Until its tools are loaded, and shares nothing with it but the network."""
    agent = _services()["agent"]

    assert agent["depends_on"] == {"sidecall": {"condition": "service_healthy"}}
    assert agent["environment"]["SIDECALL_URL"] == "http://sidecall:8000"
    assert "volumes" not in agent


def test_server_knows_the_name_that_the_agent_calls_it_by() -> None:
    """Bound as the image binds it, without a setting more."""
    bound = re.search(r"SIDECALL_HOST=(\S+)", _only("ENV"))

    assert bound is not None
    assert OwnHosts(bound[1]).include("sidecall:8000")


@pytest.mark.parametrize("service", ["sidecall", "agent"])
def test_secrets_come_from_outside(service: str) -> None:
    """A variable named like one has no value in the file."""
    environment = _services()[service]["environment"]

    assert {name: value for name, value in environment.items() if name.endswith("_KEY") and value} == {}


def test_example_environment_names_what_compose_passes_on() -> None:
    """Each variable that a service takes from outside."""
    passed = {name for service in _services().values() for name, value in service["environment"].items() if not value}
    example = (ROOT / ".env.example").read_text()

    assert passed <= set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))


def test_process_is_not_root() -> None:
    """By number, so that Kubernetes can tell that it is not root."""
    assert _only("USER") == "10001:10001"


def test_process_1_is_sidecall() -> None:
    """No shell stands between it and SIGTERM."""
    assert json.loads(_only("ENTRYPOINT")) == ["sidecall"]
    assert json.loads(_only("CMD")) == ["serve"]
    assert _only("STOPSIGNAL") == "SIGTERM"


def test_health_check_needs_only_python() -> None:
    """And it is a program that Python can read."""
    command = json.loads(_only("HEALTHCHECK").partition(" CMD ")[2])

    assert command[:2] == ["python", "-c"]
    assert "/readyz" in command[2]
    assert "int(os.environ['SIDECALL_PORT'] or 8000)" in command[2], "what is empty is not set"
    compile(command[2], "<health check>", "exec")


def test_final_stage_takes_nothing_but_the_environment_that_was_built() -> None:
    """No sources, no secrets, no installer."""
    copies = [rest for name, rest in _final_stage() if name in {"COPY", "ADD"}]

    assert copies == ["--from=build /opt/sidecall /opt/sidecall"]


def test_build_context_is_what_the_dockerfile_copies() -> None:
    """Everything else, `.env` before all, stays where it is."""
    copied = {
        source
        for name, rest in _instructions(DOCKERFILE)
        if name == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    lines = (ROOT / ".dockerignore").read_text().splitlines()

    assert lines.index("*") < lines.index("!app")
    assert copied == {line.removeprefix("!") for line in lines if line.startswith("!")}


@pytest.mark.parametrize(
    "script",
    [path for path in sorted((ROOT / "scripts").iterdir()) if path.is_file() and path.suffix != ".py"],
    ids=lambda path: path.name,
)
def test_scripts_can_be_run(script: Path) -> None:
    """They are executable, and bash can read them."""
    checked = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)

    assert checked.stderr == ""
    assert script.stat().st_mode & 0o111 == 0o111


def _sidecar() -> dict[str, Any]:
    """Give the server's container in the manifest of docs/deploy.md, with the volumes of its pod."""
    deploy = (ROOT / "docs" / "deploy.md").read_text()
    manifest = deploy[deploy.index("# agent.yaml") :]
    pod = YAML(typ="safe").load(manifest[: manifest.index("\n---\n")])["spec"]["template"]["spec"]
    [container] = pod["initContainers"]
    return {**container, "volumes": {volume["name"] for volume in pod["volumes"]}}


def _settings_of(environment: dict[str, str], folder: Path) -> Settings:
    """Read settings as a container of the image does, whose files of keys lie in a folder here."""
    image = dict(pair.split("=") for pair in re.findall(r"SIDECALL_\w+=\S+", _only("ENV")))
    given = {name: value for name, value in (image | environment).items() if name.startswith("SIDECALL_")}
    if "SIDECALL_KEYS_FILE" in given:
        write_keys(folder / "keys.jsonl", {"agent": ("tools:call",)})
        given["SIDECALL_KEYS_FILE"] = str(folder / "keys.jsonl")
    return Settings(**{name.removeprefix("SIDECALL_").lower(): value for name, value in given.items()})


def test_the_pod_asks_for_keys_and_starts(tmp_path: Path) -> None:
    """With the settings of the manifest; the file of keys lies in a volume that is mounted for reading."""
    container = _sidecar()
    environment = {variable["name"]: variable["value"] for variable in container["env"]}
    settings = _settings_of(environment, tmp_path)
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}

    refuse_open(settings)
    app = create_app(settings, Registry())

    assert app.state.access.is_proved
    assert mounts[str(Path(environment["SIDECALL_KEYS_FILE"]).parent)]["readOnly"] is True
    assert {mount["name"] for mount in mounts.values()} == container["volumes"]


def test_compose_starts_with_keys_and_without(tmp_path: Path) -> None:
    """As it is, and with the lines of `.env.example` that ask for keys."""
    example = (ROOT / ".env.example").read_text()
    asking = dict(re.findall(r"^#(SIDECALL_(?:AUTH|KEYS_FILE|ALLOW_\w+))=(\S+)", example, re.MULTILINE))
    alone = {"SIDECALL_ALLOW_UNAUTHENTICATED": "true"}

    refuse_open(_settings_of(alone, tmp_path))
    refuse_open(_settings_of(asking, tmp_path))

    assert asking.keys() == {"SIDECALL_AUTH", "SIDECALL_KEYS_FILE", "SIDECALL_ALLOW_UNAUTHENTICATED"}
    folder = str(Path(asking["SIDECALL_KEYS_FILE"]).parent)
    assert f"- ./keys:{folder}:ro" in COMPOSE.read_text()


def test_the_image_check_speaks_of_as_many_tools_as_ship() -> None:
    """What it found stands in docs/deploy.md."""
    deploy = (ROOT / "docs" / "deploy.md").read_text()

    assert f"10001, 200, {len(discover(('sidecall',)))} tools, `11.0`" in deploy
