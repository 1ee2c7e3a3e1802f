"""How the properties are run: the same cases every time, or a hunt for new ones.

`PROPERTY_EXAMPLES=2000 python -m pytest tests/properties` tries that many cases of each property, others every time.
"""

import os

from hypothesis import HealthCheck, Phase, settings

_HUNT = int(os.environ.get("PROPERTY_EXAMPLES", "0"))


def examples(count: int) -> settings:
    """Run a property on this many cases."""
    return settings(
        max_examples=_HUNT or count,
        derandomize=not _HUNT,
        database=None,
        deadline=None,
        # Without the last phase, which explains a failure and takes longer than finding it.
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        # A case is a whole program of classes and a signature: slow to draw and large beside what Hypothesis expects.
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
