"""The servers of PostgreSQL that tests of remembered calls share."""

from tests.kit.postgres import cluster, emptied_url, postgres_url

__all__ = ["cluster", "emptied_url", "postgres_url"]
