"""Which tools run on which workers, what is refused at the start, and which workers fit a tool."""

from typing import Annotated, Any

import pytest
from pydantic import ValidationError

from sidecall import InjectedWorkspace, Registry, Workspace, tool
from sidecall.features.fleet.peers import Peers
from sidecall.features.fleet.placement import Placement
from sidecall.features.fleet.roster import Roster
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import hash_definition
from sidecall.main import create_app
from sidecall.settings import Settings

KEY = "c2lkZWNhbGwgZmxlZXQga2V5IG9mIDMyIGJ5dGVzISE="


@tool(queue="gpu", tags=["vision"])
async def see(image: str) -> str:
    """See."""
    return image


@tool(tags=["vision", "heavy"])
async def crunch_numbers(count: int) -> int:
    """Crunch."""
    return count


@tool
async def plain(text: str) -> str:
    """Be plain."""
    return text


@tool
async def in_files(text: str, workspace: Annotated[Workspace, InjectedWorkspace()]) -> str:
    """Use files."""
    return f"{text}{workspace}"


@pytest.mark.parametrize(
    ("rules", "queues"),
    [
        ((), ["gpu", None, None]),
        (("cpu=crunch*",), ["gpu", "cpu", None]),
        (("cpu=tag:vision",), ["cpu", "cpu", None]),
        (("one=see", "two=tag:vision"), ["one", "two", None]),
        (("one=tag:vision", "two=see"), ["one", "one", None]),
        (("all=*",), ["all", "all", "all"]),
        (("none=CRUNCH*", "none=tag:visio"), ["gpu", None, None]),
    ],
)
def test_the_first_rule_that_fits_goes_before_the_authors_queue(rules: tuple[str, ...], queues: list[Any]) -> None:
    """By name, by the beginning of one, or by tag."""
    placement = Placement(rules)
    assert [placement.find_queue(it.compiled) for it in (see, crunch_numbers, plain)] == queues


def test_a_placed_tool_is_served_from_elsewhere_and_its_source_is_unchanged() -> None:
    """It is available once a worker has it."""
    placed = Placement(()).place(see.compiled)
    assert (placed.executor, placed.options.queue, placed.is_available) == ("fleet", "gpu", False)
    assert Placement(()).place(see.compiled, {"see"}).is_available
    assert Placement(()).place(plain.compiled, {"see"}) is plain.compiled
    assert see.compiled.executor == "inline"


def test_a_tool_that_takes_the_workspace_is_refused_with_what_to_do() -> None:
    """Its files are on the server's machine."""
    with pytest.raises(InvalidToolOption, match=r"in_files.*SIDECALL_PLACEMENT"):
        Placement(("cpu=in_*",)).place(in_files.compiled)


def test_tools_of_other_servers_stay_here() -> None:
    """Also where a rule fits them, and after tools were loaded again."""
    registry = Registry([plain])
    registry.put_source("mcp", [crunch_numbers.compiled])
    registry.adapt = Placement(("cpu=*",)).place
    registry.replace(registry.given)
    registry.replace([plain, see])
    assert {it.name: it.executor for it in registry} == {"plain": "fleet", "see": "fleet", "crunch_numbers": "inline"}


def test_a_refused_tool_changes_nothing() -> None:
    """The tools from before are still served."""
    registry = Registry([plain])
    registry.adapt = Placement(("cpu=*",)).place
    registry.replace(registry.given)
    with pytest.raises(InvalidToolOption):
        registry.replace([in_files])
    assert (registry.names, registry.given) == (["plain"], (plain,))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fleet": "http://127.0.0.1:4222"}, "nats://HOST"),
        ({"fleet": "nats://"}, "nats://HOST"),
        ({"fleet": "nats://127.0.0.1:x"}, "nats://HOST:PORT"),
        ({"fleet": "nats://bus.example.com"}, "SIDECALL_FLEET_KEY"),
        ({"fleet_key": "short"}, "32"),
        ({"fleet_key": f"{KEY} short"}, "32"),
        ({"placement": ("cpu",)}, "no rule"),
        ({"placement": ("cpu=",)}, "no rule"),
        ({"placement": ("cpu=tag:",)}, "no rule"),
        ({"placement": ("c.p=x",)}, "no queue"),
    ],
)
def test_settings_that_name_no_fleet_are_refused(given: dict[str, Any], said: str) -> None:
    """With what to write."""
    with pytest.raises(ValidationError, match=said):
        Settings(auth=("none",), **given)


@pytest.mark.parametrize(
    "given",
    [
        {"fleet": "nats://localhost"},
        {"fleet": "nats://[::1]:4222"},
        {"fleet": "tls://user:pass@bus.example.com:4222", "fleet_key": f"{KEY} {KEY}"},
        {"placement": ("cpu=crunch*", "gpu=tag:vision")},
    ],
)
def test_settings_of_a_fleet_are_taken(given: dict[str, Any]) -> None:
    """A bus elsewhere takes a key."""
    Settings(auth=("none",), **given)


@pytest.mark.parametrize("queue", ["", "a b", "a.b", "ä", "x" * 65])
def test_a_queue_has_letters_digits_and_few_signs(queue: str) -> None:
    """Others mean something to the bus."""
    with pytest.raises(InvalidToolOption, match="queue"):
        tool("odd", description="Be odd.", queue=queue)(lambda: "").compiled.name  # noqa: B018


def _roster(*workers: tuple[str, str, bool], tools: dict[str, CompiledTool]) -> Roster:
    roster = Roster(lambda: None)
    for name, queue, is_draining in workers:
        said = {"name": name, "queue": queue, "pool": name, "slots": 1, "running": 0, "draining": is_draining}
        assert roster.note(name, said)
        roster.note_tools(name, {it.name: hash_definition(it) for it in tools.values()})
    return roster


def test_a_worker_fits_if_it_has_the_tool_and_its_queue_and_stays() -> None:
    """Those that were not heard for a while are gone."""
    placed = Placement(()).place(see.compiled)
    roster = _roster(("a", "gpu", False), ("b", "cpu", False), ("c", "gpu", True), tools={"see": placed})
    assert roster.find_pool(placed) == "a"
    for _ in range(3):
        assert roster.miss() == []
    assert {it.name for it in roster.miss()} == {"a", "b", "c"}
    assert roster.find_pool(placed) is None
    other = _roster(("a", "gpu", False), tools={"plain": plain.compiled})
    assert other.find_pool(placed) is None


class _Servers:
    owner = "me"

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.are_quiet = False

    async def end_server(self, owner: str) -> bool:
        if self.are_quiet:
            self.ended.append(owner)
        return self.are_quiet


@pytest.mark.parametrize(("is_there", "ended"), [(True, []), (False, ["other"])])
async def test_a_server_is_gone_where_nothing_listens_and_its_heartbeat_is_late(
    is_there: bool, ended: list[str]
) -> None:
    """One that stands still keeps its place on the bus, and one whose bus is away its heartbeat."""
    servers = _Servers()

    async def look_for(_: str) -> bool:
        return is_there

    peers = Peers(servers, look_for)
    peers.note("x", "other")
    for _ in range(10):
        await peers.look()
    assert servers.ended == []
    servers.are_quiet = True
    for _ in range(3):
        await peers.look()
    assert servers.ended == ended


@pytest.mark.parametrize(("tools", "logged"), [([see, plain], 1), ([plain], 0)])
async def test_without_a_fleet_the_log_says_what_runs_here(
    caplog: pytest.LogCaptureFixture, tools: list[Any], logged: int
) -> None:
    """Though its author or the operator meant a queue."""
    app = create_app(Settings(store="memory://"), Registry(tools))

    async with app.router.lifespan_context(app):
        said = [it.message for it in caplog.records if it.name == "sidecall.fleet"]

    assert said == ["SIDECALL_FLEET is not set, so these run here, though a queue is meant: see"] * logged
