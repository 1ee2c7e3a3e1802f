"""Use the clients that openapi-python-client makes of the tools themselves."""

import importlib
import json
import os
import pkgutil

import tools_client
import tools_client.api
import wide_client.api
from tools_client import models

client = tools_client.Client(os.environ["SIDECALL_URL"], timeout=None)


def find(package: object, name: str) -> object:
    """Find the function of an operation, no matter which tag it stands under."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if found.name.endswith(f".{name}"):
            return importlib.import_module(found.name)
    raise LookupError(name)


def say(*words: object) -> None:
    """Print a line of JSON."""
    print(json.dumps(words))


calculator = find(tools_client.api, "calculator")
answer = calculator.sync_detailed(client=client, body=models.CalculatorArguments("6 * 7"))
say("calculator", answer.status_code, answer.parsed)
wrong = models.CalculatorArguments.from_dict({"expression": {"not": "a text"}})
refused = calculator.sync_detailed(client=client, body=wrong)
say("wrong", refused.status_code, refused.parsed.type_, refused.parsed.errors[0]["loc"][0])
waiting = find(tools_client.api, "delete_order").sync_detailed(client=client, body=models.DeleteOrderArguments(7))
say("waiting", waiting.status_code, waiting.parsed.status)
say("wide", callable(find(wide_client.api, "order").sync))
