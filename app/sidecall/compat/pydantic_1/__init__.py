"""Everything that has to do with models of pydantic 1."""
