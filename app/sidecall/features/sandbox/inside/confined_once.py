"""Run one Python program with Landlock and a filter of system calls; a program of its own.

Its arguments are JSON: paths that may be read and written, limits, the filter, and the program to run.
"""

import base64
import json
import os
import resource
import runpy
import sys


def main(told: str) -> None:
    """Give up what the program must not have, and be the program."""
    wanted = json.loads(told)
    # The folder of this file, before it is out of reach; nothing else of the server is imported.
    sys.path.insert(0, wanted["here"])
    landlock = __import__("landlock")
    sys.path.pop(0)
    os.chdir(wanted["folder"])
    for kind, most in wanted["limits"]:
        resource.setrlimit(kind, (most, most))
    landlock.give_up_capabilities()
    landlock.confine(wanted["readable"], wanted["writable"])
    landlock.filter_calls(base64.b64decode(wanted["filter"]))
    sys.argv = wanted["argv"]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
