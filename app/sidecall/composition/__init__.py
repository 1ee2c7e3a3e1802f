"""Build the parts of a server from the settings, for `sidecall.main`."""
