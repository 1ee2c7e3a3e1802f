"""The store: items that tools keep between calls, for each tenant."""
