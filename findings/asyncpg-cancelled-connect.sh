#!/usr/bin/env bash
# asyncpg 0.32.0: `connect` that is cancelled, as by a timeout, in the turn of the loop after the server was reached
# raises CancelledError, and some time later the loop's exception handler gets "Future exception was never retrieved"
# with ConnectionError('unexpected connection_lost() call'). With sslmode=disable it does not: only the protocol that
# asks for TLS, which is the default, leaves its future behind.
# A good guess would be that a cancelled `connect` says nothing more. Programs that take what the handler gets for an
# error of theirs (AnyIO's test runner) then fail at another place.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check asyncpg==0.32.0
cat >"$work/show.py" <<'PYTHON'
import asyncio
import gc

import asyncpg


async def cancel_at_each_turn(port, mode):
    seen = set()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: seen.add(f"{context['message']}: {context['exception']!r}"))
    for turns in range(1, 20):
        task = loop.create_task(asyncpg.connect(f"postgresql://u:p@127.0.0.1:{port}/d?sslmode={mode}"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        del task
        gc.collect()
        await asyncio.sleep(0.01)
    return sorted(seen)


async def say_nothing(reader, writer):
    await reader.read()
    writer.close()


async def main():
    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for mode in ("prefer", "disable"):
            print(mode, await cancel_at_each_turn(port, mode))


print("asyncpg", asyncpg.__version__)
asyncio.run(main())
PYTHON
"$work/env/bin/python" "$work/show.py" | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
asyncpg 0.32.0
prefer ["Future exception was never retrieved: ConnectionError('unexpected connection_lost() call')"]
disable []
SEEN
