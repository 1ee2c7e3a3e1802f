"""Let Sidecall run in the environment of a framework: what it needs and the framework has not comes from ours."""

import os
import sys

sys.path.append(os.environ["PACKAGES_OF_SIDECALL"])
