"""Let the recorded cases be imported as they import each other, and servers be started."""

import sys
from pathlib import Path

from tests.e2e.conftest import start_server
from tests.kit.forked import origin

__all__ = ["origin", "start_server"]

HERE = Path(__file__).parent

if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))
