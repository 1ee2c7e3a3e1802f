"""Ask a model of Google's SDK with the tools of a server, and print what its API was sent of them."""

import json
import sys
from typing import Any

from google.genai import Client, types

heard: list[Any] = []
options = types.HttpOptions(client_args={"event_hooks": {"request": [lambda it: heard.append(json.loads(it.content))]}})
gemini = Client(http_options=options)
gemini.models.generate_content(model="scripted", contents="Please.", config={"tools": json.load(sys.stdin)})
print(json.dumps(heard[0]["tools"]))
