"""Print what the OpenAI Agents SDK makes of the strict schemas that it is given as lines."""

import copy
import json
import sys

from agents.strict_schema import ensure_strict_json_schema

for line in sys.stdin:
    print(json.dumps(ensure_strict_json_schema(copy.deepcopy(json.loads(line)))))
