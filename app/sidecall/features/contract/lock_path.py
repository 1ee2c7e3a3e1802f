"""The path of the lock file."""

# In the working directory.
LOCK = "tools.lock"
