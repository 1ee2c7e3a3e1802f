"""mcpo: REST in front of an MCP server that it starts and speaks to over pipes."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Become mcpo on the port given."""
    program = str(Path(sys.executable).with_name("mcpo"))
    upstream = [sys.executable, "-m", "bench.peers.mcpo_upstream"]
    options = ["--host", "127.0.0.1", "--port", sys.argv[1], "--log-level", "error"]
    os.execv(program, [program, *options, "--", *upstream])


if __name__ == "__main__":
    main()
