"""Sleep longer than any sandbox may run, and so does a child in a session of its own, where there may be one."""

import os
import time

if __name__ == "__main__":
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
    time.sleep(60)
