"""The kernel stands alone: it imports, lists and runs tools where there are no features, and refuses what needs one."""

import subprocess
import sys

from tests.kit.sources import ROOT

# Features, and all that joins them to a server, as `make check-kernel` has it; and what else the kernel does without.
ABOVE = (
    "features composition feature main settings storage server terminal testing cli native"
    " compat loading outgoing client"
).split()
PROGRAM = f"""
import asyncio
import pkgutil
import sys
from importlib import import_module

import httpx

ABOVE = {ABOVE!r}


class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("sidecall.") and name.split(".")[1] in ABOVE:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Gone())

import sidecall.kernel
from sidecall import tool
from tests.kit.kernel_server import make_kernel_app

for module in pkgutil.walk_packages(sidecall.kernel.__path__, "sidecall.kernel."):
    import_module(module.name)


@tool
async def add(a: int, b: int) -> int:
    "Add."
    return a + b


@tool
def shout(text: str) -> str:
    "Shout."
    return text.upper()


@tool
def limited(text: str, most: int = 9) -> str:
    "Shorten."
    return text[:most]


UNFIT = (
    ("shout", {{"text": "hi", "other": 1}}),
    ("shout", {{"text": None}}),
    ("limited", {{"text": "hi", "mots": 1}}),
    ("shout", "{{'text': 'hi'}}"),
)


async def ask(app):
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://kernel") as it:
        listed = (await it.get("/tools")).json()
        print([each["function"]["name"] for each in listed])
        print((await it.get("/tools?format=anthropic")).json()["detail"])
        for name, args in (("add", {{"a": 1, "b": "2"}}), ("shout", {{"text": "hi"}}), ("ad", {{}}), *UNFIT):
            said = (await it.post("/tool_calls", json={{"name": name, "args": args}})).json()
            print(said["status"], said["content"])
        print((await it.get("/readyz")).json()["status"], (await it.get("/approvals")).status_code)
        key = {{"Idempotency-Key": '"k"'}}
        refused = await it.post("/tool_calls", json={{"name": "add", "args": {{"a": 1, "b": 2}}}}, headers=key)
        print(refused.status_code, refused.json()["detail"])
        later = {{"Prefer": "respond-async"}}
        answered = await it.post("/tool_calls", json={{"name": "add", "args": {{"a": 1, "b": 2}}}}, headers=later)
        print(answered.status_code, answered.json()["content"])
        print(sorted((await it.get("/openapi.json")).json()["paths"]))


asyncio.run(ask(make_kernel_app([add, shout, limited])))
print(asyncio.run(add.ainvoke({{"a": 3, "b": 4}})))


@tool(requires_approval=True)
def pay(amount: int) -> str:
    "Pay."
    return "paid"


for run in (lambda: pay.invoke({{"amount": 1}}), lambda: make_kernel_app([pay])):
    try:
        print(run())
    except Exception as error:
        print(type(error).__name__, str(error).partition(": ")[2])
print([name for name in sys.modules if name.startswith("sidecall.") and name.split(".")[1] in ABOVE])
"""


def test_it_lists_and_runs_tools_and_refuses_what_needs_a_feature() -> None:
    """A tool that asks for approval does not run where nobody can be asked."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (ended.stderr, ended.returncode) == ("", 0)
    assert ended.stdout.splitlines() == [
        "['add', 'shout', 'limited']",
        "`format=anthropic` needs a feature that is not installed.",
        "success 3",
        "success HI",
        "error Error: ad is not a valid tool, try one of [add, shout, limited].",
        "success HI",
        "error text: Input should be a string",
        "error mots: There is no such argument; the arguments are: most, text",
        "error The arguments are not valid JSON: key must be a string at line 1 column 2."
        " Send one JSON object: {text}.",
        "ready 404",
        "400 This server remembers no calls: leave `Idempotency-Key` out.",
        "200 3",
        "['/healthz', '/readyz', '/tool_calls', '/tool_calls/batch', '/tools', '/tools/{name}']",
        "7",
        "FeatureMissing `requires_approval` needs a feature that is not installed.",
        "FeatureMissing `requires_approval` needs a feature that is not installed.",
        "[]",
    ]
