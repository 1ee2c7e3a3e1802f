"""What `sidecall.main` builds a server of: each part as the settings have it."""
