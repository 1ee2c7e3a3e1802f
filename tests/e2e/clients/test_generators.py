"""Clients that generators for TypeScript make of the tools type-check, and get plain results."""

import json
import shutil
from pathlib import Path

from tests.e2e.clients.conftest import find_clients
from tests.e2e.clients.test_javascript import run_node, run_program
from tests.kit.servers import CLIENT, Server

HERE = Path(__file__).parent / "generators"
ORVAL = """
const output = { target: "./orval.ts", client: "fetch", baseUrl: process.env.SIDECALL_URL };
export default { tools: { input: "./tools.json", output } };
"""


def test_clients_of_the_tools_compile_and_get_answers(tmp_path: Path, runtimes: Path, desk: Server) -> None:
    """Made by openapi-typescript, @hey-api/openapi-ts and orval, and run by Bun, which needs no bundler."""
    (tmp_path / "node_modules").symlink_to(find_clients("generators") / "node_modules")
    for name in ("package.json", "tsconfig.json", "use.ts"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "orval.config.mjs").write_text(ORVAL)
    (tmp_path / "tools.json").write_text(CLIENT.get(f"{desk.url}/openapi/tools.json").text)
    (bun,) = (runtimes / "node_modules").glob("@oven/bun-linux-*/bin/bun")
    programs = "node_modules/.bin"

    # Members with a default would be required else.
    optional = "--default-non-nullable=false"
    run_node(tmp_path, f"{programs}/openapi-typescript", "tools.json", "--output", "fetched.d.ts", optional)
    run_node(tmp_path, f"{programs}/openapi-ts", "-i", "tools.json", "-o", "hey", "-c", "@hey-api/client-fetch")
    run_node(tmp_path, f"{programs}/orval", SIDECALL_URL=desk.url)
    run_node(tmp_path, f"{programs}/tsc", "--project", ".")
    printed = run_program(tmp_path, str(bun), "run", "use.ts", SIDECALL_URL=desk.url)

    answered = [8, 400, "Not below zero.", 202, True]
    assert [json.loads(line) for line in printed.splitlines()] == [
        ["openapi-typescript", *answered],
        ["hey-api", *answered],
        ["orval", *answered],
    ]
