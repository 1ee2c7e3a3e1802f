"""The path of the lock file."""

# In the folder that the program is started in.
LOCK = "tools.lock"
