#!/usr/bin/env bash
# agno 3.1.10 changes arguments behind a tool's back, in two ways. The texts "true", "false", "none" and "null" of a
# model become True, False and None, also where the tool wants a text, which then refuses what fitted it. And a hook
# around a tool cannot change arguments: what it passes on is not looked at, the tool gets the model's.
# A good guess would be that a text stays a text, and that `function_call(**arguments)` calls with these arguments.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check agno==3.1.10
cat >"$work/show.py" <<'PYTHON'
from importlib.metadata import version

from agno.tools import tool
from agno.utils.functions import get_function_call
from agno.utils.log import logger

logger.disabled = True


@tool
def note(text: str) -> str:
    """Note a text."""
    return f"noted {text!r}"


def double(function_name, function_call, arguments):
    return function_call(text=arguments["text"] * 2)


def call(arguments, hooks=None):
    function = note.model_copy()
    function.process_entrypoint()
    function.tool_hooks = hooks
    result = get_function_call("note", arguments, functions={"note": function}).execute()
    return result.status, result.result or result.error.splitlines()[2].strip().partition(" [")[0]


print("agno", version("agno"))
for text in ("yes", "true", "None"):
    print(text, *call(f'{{"text": "{text}"}}'))
print("doubled by a hook:", *call('{"text": "tea"}', [double]))
PYTHON
"$work/env/bin/python" "$work/show.py" 2>/dev/null | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
agno 3.1.10
yes success noted 'yes'
true failure Input should be a valid string
None failure Input should be a valid string
doubled by a hook: success noted 'tea'
SEEN
