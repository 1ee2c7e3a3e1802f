"""What the feature sandbox adds to a server."""

from sidecall.feature import Built, Feature, Host
from sidecall.features.sandbox.late import LateSandboxExecutor, make_sandbox


def build(host: Host) -> Built:
    """Make the sandbox, and what runs tools in it."""
    sandbox = make_sandbox(host.server)
    return Built(
        executors={"sandbox": LateSandboxExecutor(host.executing, sandbox)},
        services={"sandbox": sandbox},
    )


FEATURE = Feature(
    name="sandbox",
    needs=("processes",),
    options=frozenset({"command"}),
    executors=frozenset({"sandbox"}),
    build=build,
)
