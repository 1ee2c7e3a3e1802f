"""Where the lock of tools is."""

# In the folder that the program is started in.
LOCK = "tools.lock"
