"""Where sessions may be kept."""

from tests.features.history.conftest import store
from tests.kit.postgres import cluster, emptied_url, postgres_url

__all__ = ["cluster", "emptied_url", "postgres_url", "store"]
